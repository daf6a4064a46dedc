/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
#ifndef DN_TESTS_VIA_SUB_H
#define DN_TESTS_VIA_SUB_H

int sub_create(cudnnHandle_t *handle);
int sub_destroy(cudnnHandle_t handle);
int sub_fail(cudnnTensorDescriptor_t tensor);
int sub_set_callback(unsigned mask, void *data, cudnnCallback_t callback);
void *sub_create_address(void); /* to show that the two halves really enter by two doors */

#endif
