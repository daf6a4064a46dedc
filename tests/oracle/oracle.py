# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
"""What the oracles share: the library under test through ctypes, and a comparison that counts."""

import ctypes
import os
import sys

FLOAT, DOUBLE = 0, 1  # cudnnDataType_t


class Library:
    """A libcudnn.so.8 of ours on the ref engine; a call that does not succeed raises with the library's own text."""

    def __init__(self, path):
        os.environ["ANYDNN_ENGINE"] = "ref"
        self.lib = ctypes.CDLL(path)
        self.lib.anydnnGetLastErrorString.restype = ctypes.c_char_p
        self.handle = ctypes.c_void_p()
        self.call("cudnnCreate", ctypes.byref(self.handle))

    def call(self, name, *arguments):
        status = getattr(self.lib, name)(*arguments)
        if status:
            raise RuntimeError("%s answered %d: %s" % (name, status, self.lib.anydnnGetLastErrorString().decode()))

    def make(self, kind):
        """An object of this kind: "RNNDescriptor"."""
        it = ctypes.c_void_p()
        self.call("cudnnCreate" + kind, ctypes.byref(it))
        return it

    def destroy(self, kind, it):
        self.call("cudnnDestroy" + kind, it)

    def tensor(self, data_type, dims):
        """A packed tensor descriptor."""
        strides = [1] * len(dims)
        for i in range(len(dims) - 2, -1, -1):
            strides[i] = strides[i + 1] * dims[i + 1]
        it = self.make("TensorDescriptor")
        ints = ctypes.c_int * len(dims)
        self.call("cudnnSetTensorNdDescriptor", it, data_type, len(dims), ints(*dims), ints(*strides))
        return it


def pointer(tensor):
    """Of a contiguous torch tensor's data."""
    assert tensor is None or tensor.is_contiguous()
    return ctypes.c_void_p(tensor.data_ptr() if tensor is not None else None)


class Score:
    def __init__(self, what):
        self.what, self.good, self.bad = what, 0, 0

    def compare(self, name, got, want, bound):
        """The largest difference against the bound times the largest value (1 at least)."""
        worst = (got - want).abs().max().item() if want.numel() else 0.0
        top = max(1.0, want.abs().max().item()) if want.numel() else 1.0
        if worst <= bound * top:
            self.good += 1
        else:
            self.bad += 1
            print("%s: %s is off by %.3g of %.3g" % (self.what, name, worst, top))

    def finish(self):
        print("%s: %d comparisons are good, %d are not" % (self.what, self.good, self.bad))
        sys.exit(1 if self.bad or not self.good else 0)
