#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
"""CTC loss of the library against PyTorch's own on the CPU: ctc.py PATH-OF-libcudnn.so.8

Loss and gradients by what the softmax takes, and, where probabilities go in, by those (-o / y; see src/ops/ctc.h)."""

import ctypes
import sys

import torch

from oracle import DOUBLE, FLOAT, Library, Score, pointer

NONE, SOFTMAX = 0, 1
DETERMINISTIC = 0


def ints(values):
    return (ctypes.c_int * max(len(values), 1))(*values)


def loss(lib, x, labels, label_lengths, input_lengths, norm, v8):
    """Costs and gradients of the library."""
    data_type = DOUBLE if x.dtype == torch.float64 else FLOAT
    descriptor = lib.make("CTCLossDescriptor")
    lib.call("cudnnSetCTCLossDescriptor_v8", descriptor, data_type, norm, 0, max(label_lengths + [1]))
    tensor = lib.tensor(data_type, list(x.shape))
    arrays = ints(labels), ints(label_lengths), ints(input_lengths)
    size = ctypes.c_size_t()
    if v8:
        lib.call("cudnnGetCTCLossWorkspaceSize_v8", lib.handle, DETERMINISTIC, descriptor, tensor, tensor, ctypes.byref(size))
    else:
        lib.call("cudnnGetCTCLossWorkspaceSize", lib.handle, tensor, tensor, *arrays, DETERMINISTIC, descriptor, ctypes.byref(size))
    work = torch.empty(size.value, dtype=torch.uint8)
    costs, gradients = x.new_empty(x.shape[1]), torch.full_like(x, 1e30)
    if v8:
        lib.call("cudnnCTCLoss_v8", lib.handle, DETERMINISTIC, descriptor, tensor, pointer(x), *arrays, pointer(costs), tensor,
                 pointer(gradients), size, pointer(work))
    else:
        lib.call("cudnnCTCLoss", lib.handle, tensor, pointer(x), *arrays, pointer(costs), tensor, pointer(gradients), DETERMINISTIC,
                 descriptor, pointer(work), size)
    lib.destroy("TensorDescriptor", tensor)
    lib.destroy("CTCLossDescriptor", descriptor)
    return costs, gradients


def truth(x, labels, label_lengths, input_lengths, norm):
    """The same of PyTorch, in double."""
    wide = x.double().detach().requires_grad_(True)
    log_y = torch.log_softmax(wide, 2) if norm == SOFTMAX else torch.log(wide)
    costs = torch.nn.functional.ctc_loss(log_y, torch.tensor(labels, dtype=torch.long), torch.tensor(input_lengths),
                                         torch.tensor(label_lengths), reduction="none")
    finite = torch.isfinite(costs)
    if norm == SOFTMAX:
        (gradients,) = torch.autograd.grad(costs[finite].sum(), wide)
        return costs.detach(), gradients, finite
    # PyTorch's gradient by log y assumes that y sums up to 1 over the classes, and is y - o: o comes from it.
    (by_log,) = torch.autograd.grad(costs[finite].sum(), log_y)
    y = wide.detach()
    part = y - by_log
    for n, steps in enumerate(input_lengths):
        part[steps:, n] = 0
    return costs.detach(), torch.where(part > 1e-9, -part / y, part.new_zeros(())), finite


def compare(lib, score, name, steps, classes, label_lengths, input_lengths, norm, dtype, repeats=False):
    total = sum(label_lengths)
    labels = (torch.ones(total) if repeats else torch.randint(1, max(classes, 2), (total,))).int().tolist()
    x = torch.randn(steps, len(label_lengths), classes, dtype=torch.float64)
    x = (torch.softmax(x, 2) if norm == NONE else x).to(dtype)
    want_costs, want, finite = truth(x, labels, label_lengths, input_lengths, norm)
    bound = 1e-10 if dtype == torch.float64 else 2e-6
    for v8 in (False, True):
        costs, gradients = loss(lib, x, labels, label_lengths, input_lengths, norm, v8)
        score.compare(name + " costs", costs.double()[finite], want_costs[finite], bound)
        score.compare(name + " costs without an alignment", costs.double()[~finite], torch.zeros_like(want_costs[~finite]), 0)
        if norm == NONE:  # where (next to) no path goes: y, or next to 0; what that is cannot be told from o in double
            small = ((gradients.double() - x.double()).abs() <= bound) | ((gradients.double() * x.double()).abs() <= 2e-9)
            gradients = torch.where(small & (want == 0), gradients.new_zeros(()), gradients)
        score.compare(name + " gradients", gradients.double()[:, finite], want[:, finite], bound)
        score.compare(name + " gradients without an alignment", gradients.double()[:, ~finite], torch.zeros_like(want[:, ~finite]), 0)


def main():
    lib, score = Library(sys.argv[1]), Score("ctc")
    torch.manual_seed(11)
    for dtype in (torch.float64, torch.float32):
        for norm in (NONE, SOFTMAX):
            compare(lib, score, "small", 6, 4, [2, 1], [6, 3], norm, dtype)
            compare(lib, score, "empty", 6, 4, [0, 3, 0], [6, 5, 2], norm, dtype)
            compare(lib, score, "repeats", 9, 3, [4, 2, 1], [9, 9, 9], norm, dtype, True)
            compare(lib, score, "short", 9, 3, [5, 6, 2], [9, 9, 1], norm, dtype, True)
            compare(lib, score, "one class", 5, 1, [0, 0], [5, 4], norm, dtype)
            compare(lib, score, "speech", 150, 28, [40, 37, 12, 1], [150, 140, 97, 30], norm, dtype)
            compare(lib, score, "long", 700, 6, [300, 256, 257], [700, 650, 600], norm, dtype)
            compare(lib, score, "wide", 20, 3000, [7, 3], [20, 20], norm, dtype)
    score.finish()


if __name__ == "__main__":
    main()
