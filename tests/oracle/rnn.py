#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
"""Recurrent networks against PyTorch on the CPU: torch.nn.RNN, LSTM and GRU with the same weights, put where cudnnGetRNNWeightParams says.

usage: rnn.py PATH_OF_LIBCUDNN.SO.8
"""

import ctypes
import itertools
import sys

import torch

from oracle import DOUBLE, FLOAT, Library, Score, pointer

CELLS = ["relu", "tanh", "lstm", "gru"]
NO_BIAS, INPUT_BIAS, DOUBLE_BIAS, RECURRENT_BIAS = range(4)
TIME_MAJOR, PACKED, BATCH_MAJOR = range(3)
LENGTHS = {TIME_MAJOR: [3, 6, 1, 4], PACKED: [6, 4, 4, 1], BATCH_MAJOR: [2, 6, 5, 5]}
TIME, BATCH, INPUT, HIDDEN = 6, 4, 5, 7


class Case:
    def __init__(self, cell, layers, bidirectional, bias, proj, layout, full, dtype):
        self.cell, self.layers, self.directions, self.bias, self.layout = cell, layers, 1 + bidirectional, bias, layout
        self.proj, self.dtype = proj, dtype
        self.type = DOUBLE if dtype == torch.float64 else FLOAT
        self.width = self.directions * (proj or HIDDEN)
        self.lengths = [TIME] * BATCH if full else LENGTHS[layout]
        self.pseudo = layers * self.directions

    def __str__(self):
        return "%s layers=%d dirs=%d bias=%d proj=%d layout=%d lengths=%s %s" % (
            CELLS[self.cell], self.layers, self.directions, self.bias, self.proj, self.layout, self.lengths, self.dtype)

    def random(self, *dims):
        return torch.rand(*dims, dtype=self.dtype) * 2 - 1

    def network(self):
        kind = [torch.nn.RNN, torch.nn.RNN, torch.nn.LSTM, torch.nn.GRU][self.cell]
        more = {"nonlinearity": CELLS[self.cell]} if self.cell < 2 else {}
        if self.proj:
            more["proj_size"] = self.proj
        net = kind(INPUT, HIDDEN, self.layers, bias=self.bias != NO_BIAS, bidirectional=self.directions == 2, **more).to(self.dtype)
        with torch.no_grad():
            for name, p in net.named_parameters():  # a bias that the mode lacks is a bias of zeros
                if (self.bias == INPUT_BIAS and name.startswith("bias_hh")) or (self.bias == RECURRENT_BIAS and name.startswith("bias_ih")):
                    p.zero_()
        return net


# --- PyTorch's side: x and y are time x batch x vector, zeros past the ends ---

def torch_run(case, net, x, h, c, dy, dh, dc):
    state = (h, c) if case.cell == 2 else h
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor(case.lengths), enforce_sorted=False)
    out, last = net(packed, state)
    y, _ = torch.nn.utils.rnn.pad_packed_sequence(out, total_length=TIME)
    hy, cy = last if case.cell == 2 else (last, None)
    loss = (y * dy).sum() + (hy * dh).sum()
    if cy is not None:
        loss = loss + (cy * dc).sum()
    loss.backward()
    return y.detach(), hy.detach(), None if cy is None else cy.detach()


# --- the library's side ---

def to_layout(case, t):
    if case.layout == BATCH_MAJOR:
        return t.transpose(0, 1).contiguous()
    if case.layout == PACKED:
        return torch.cat([t[s, b:b + 1] for s in range(TIME) for b in range(BATCH) if s < case.lengths[b]]).contiguous()
    return t.contiguous()


def from_layout(case, t, width):
    if case.layout == BATCH_MAJOR:
        return t.transpose(0, 1)
    if case.layout == TIME_MAJOR:
        return t
    out, row = torch.zeros(TIME, BATCH, width, dtype=case.dtype), 0
    for s, b in itertools.product(range(TIME), range(BATCH)):
        if s < case.lengths[b]:
            out[s, b] = t[row]
            row += 1
    return out


def parameter_names(case, pseudo):
    """Names of PyTorch's parameters of a pseudo layer: matrices and biases of the input, the recurrent and the projection products."""
    end = "_l%d%s" % (pseudo // case.directions, "_reverse" if pseudo % case.directions else "")
    return "ih" + end, "hh" + end, "hr" + end


class Network:
    """Descriptors, weight space and scratch of a case."""

    def __init__(self, lib, case):
        self.lib, self.case = lib, case
        self.dropout, self.rnn = lib.make("DropoutDescriptor"), lib.make("RNNDescriptor")
        lib.call("cudnnSetDropoutDescriptor", self.dropout, lib.handle, ctypes.c_float(0), None, ctypes.c_size_t(0), ctypes.c_ulonglong(0))
        lib.call("cudnnSetRNNDescriptor_v8", self.rnn, 0, case.cell, case.bias, case.directions - 1, 0, case.type, case.type, 0, INPUT, HIDDEN,
                 case.proj or HIDDEN, case.layers, self.dropout, 0 if case.layout == PACKED else 1)
        self.x, self.y = self.sequence(INPUT), self.sequence(case.width)
        self.h = lib.tensor(case.type, [case.pseudo, BATCH, case.proj or HIDDEN])
        self.c = lib.tensor(case.type, [case.pseudo, BATCH, HIDDEN])
        self.lengths = (ctypes.c_int * BATCH)(*case.lengths)
        size, work, reserve = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_size_t()
        lib.call("cudnnGetRNNWeightSpaceSize", lib.handle, self.rnn, ctypes.byref(size))
        lib.call("cudnnGetRNNTempSpaceSizes", lib.handle, self.rnn, 1, self.x, ctypes.byref(work), ctypes.byref(reserve))
        self.weights = torch.zeros(size.value * 8 // torch.finfo(case.dtype).bits, dtype=case.dtype)
        self.work, self.reserve = torch.empty(work.value, dtype=torch.uint8), torch.empty(reserve.value, dtype=torch.uint8)

    def close(self):
        for kind, it in (("RNNDescriptor", self.rnn), ("DropoutDescriptor", self.dropout), ("RNNDataDescriptor", self.x),
                         ("RNNDataDescriptor", self.y), ("TensorDescriptor", self.h), ("TensorDescriptor", self.c)):
            self.lib.destroy(kind, it)

    def sequence(self, width):
        it = self.lib.make("RNNDataDescriptor")
        fill = (ctypes.c_double if self.case.type == DOUBLE else ctypes.c_float)(0)
        self.lib.call("cudnnSetRNNDataDescriptor", it, self.case.type, self.case.layout, TIME, BATCH, width,
                      (ctypes.c_int * BATCH)(*self.case.lengths), ctypes.byref(fill))
        return it

    def places(self, space):
        """(name, row of the first gate, view into space) of every matrix and bias of the network."""
        case, lib = self.case, self.lib
        gates = [1, 1, 4, 3][case.cell]
        matrix, bias = lib.make("TensorDescriptor"), lib.make("TensorDescriptor")
        for pseudo in range(case.pseudo):
            names = parameter_names(case, pseudo)
            for i in range(2 * gates + bool(case.proj)):
                at = ctypes.c_void_p(), ctypes.c_void_p()
                lib.call("cudnnGetRNNWeightParams", lib.handle, self.rnn, pseudo, ctypes.c_size_t(space.numel() * space.element_size()),
                         pointer(space), i, matrix, ctypes.byref(at[0]), bias, ctypes.byref(at[1]))
                for what, desc, address in (("weight_", matrix, at[0]), ("bias_", bias, at[1])):
                    if address.value:
                        dims = self.dims(desc)
                        first, count = (address.value - space.data_ptr()) // space.element_size(), dims[1] * dims[2]
                        yield what + names[i // gates], i % gates * dims[1], space[first:first + count].view(dims[1], dims[2])
        lib.destroy("TensorDescriptor", matrix)
        lib.destroy("TensorDescriptor", bias)

    def dims(self, desc):
        kind, rank = ctypes.c_int(), ctypes.c_int()
        dims, strides = (ctypes.c_int * 8)(), (ctypes.c_int * 8)()
        self.lib.call("cudnnGetTensorNdDescriptor", desc, 8, ctypes.byref(kind), ctypes.byref(rank), dims, strides)
        assert rank.value == 3
        return list(dims)[:3]

    def load(self, net):
        parameters = dict(net.named_parameters())
        for name, row, view in self.places(self.weights):
            view.copy_(parameters[name].detach().reshape(-1, view.shape[1])[row:row + view.shape[0]])

    def run(self, x, h, c, dy, dh, dc):
        case, lib = self.case, self.lib
        out = {k: torch.empty_like(v) for k, v in (("y", dy), ("hy", h), ("cy", c), ("dx", x), ("dhx", h), ("dcx", c))}
        out["dw"] = case.random(self.weights.numel())
        before = out["dw"].clone()
        p = pointer
        tail = [ctypes.c_size_t(self.work.numel()), p(self.work), ctypes.c_size_t(self.reserve.numel()), p(self.reserve)]
        size = ctypes.c_size_t(self.weights.numel() * self.weights.element_size())
        lib.call("cudnnRNNForward", lib.handle, self.rnn, 1, self.lengths, self.x, p(x), self.y, p(out["y"]), self.h, p(h), p(out["hy"]),
                 self.c, p(c), p(out["cy"]), size, p(self.weights), *tail)
        infer = torch.empty_like(out["y"])
        lib.call("cudnnRNNForward", lib.handle, self.rnn, 0, self.lengths, self.x, p(x), self.y, p(infer), self.h, p(h), None, self.c, p(c),
                 None, size, p(self.weights), tail[0], tail[1], ctypes.c_size_t(0), None)
        out["infer"] = infer
        lib.call("cudnnRNNBackwardData_v8", lib.handle, self.rnn, self.lengths, self.y, p(out["y"]), p(dy), self.x, p(out["dx"]), self.h, p(h),
                 p(dh), p(out["dhx"]), self.c, p(c), p(dc), p(out["dcx"]), size, p(self.weights), *tail)
        lib.call("cudnnRNNBackwardWeights_v8", lib.handle, self.rnn, 0, self.lengths, self.x, p(x), self.h, p(h), self.y, p(out["y"]), size,
                 p(out["dw"]), *tail)
        out["dw"] = out["dw"] - before
        return out


def check(lib, case, score):
    bound = 1e-12 if case.type == DOUBLE else 2e-5
    states = (case.pseudo, BATCH, case.proj or HIDDEN), (case.pseudo, BATCH, HIDDEN)
    x, dy = case.random(TIME, BATCH, INPUT), case.random(TIME, BATCH, case.width)
    h, dh, c, dc = (case.random(*states[i // 2]) for i in range(4))
    for b in range(BATCH):
        x[case.lengths[b]:, b], dy[case.lengths[b]:, b] = 0, 0
    net = case.network()
    leaves = [t.clone().requires_grad_() for t in (x, h, c)]
    y, hy, cy = torch_run(case, net, *leaves, dy, dh, dc)
    ours = Network(lib, case)
    ours.load(net)
    out = ours.run(to_layout(case, x), h, c, to_layout(case, dy), dh, dc)
    score.compare("%s: y" % case, from_layout(case, out["y"], case.width), y, bound)
    score.compare("%s: y of inference" % case, from_layout(case, out["infer"], case.width), y, bound)
    score.compare("%s: hy" % case, out["hy"], hy, bound)
    score.compare("%s: dx" % case, from_layout(case, out["dx"], INPUT), leaves[0].grad, bound)
    score.compare("%s: dhx" % case, out["dhx"], leaves[1].grad, bound)
    if case.cell == 2:
        score.compare("%s: cy" % case, out["cy"], cy, bound)
        score.compare("%s: dcx" % case, out["dcx"], leaves[2].grad, bound)
    gradients = {name: p.grad for name, p in net.named_parameters()}
    for name, row, view in ours.places(out["dw"]):
        want = gradients[name].reshape(-1, view.shape[1])[row:row + view.shape[0]]
        score.compare("%s: d %s from row %d" % (case, name, row), view, want, bound)
    ours.close()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    torch.manual_seed(1)
    lib, score = Library(sys.argv[1]), Score("rnn")
    for cell, bidirectional, layout, full in itertools.product(range(4), (False, True), range(3), (False, True)):
        for layers, bias in ((1, DOUBLE_BIAS), (3, DOUBLE_BIAS), (2, NO_BIAS), (2, INPUT_BIAS), (2, RECURRENT_BIAS)):
            for proj in (0, 3) if cell == 2 else (0,):
                for dtype in (torch.float64, torch.float32):
                    check(lib, Case(cell, layers, bidirectional, bias, proj, layout, full, dtype), score)
    score.finish()


main()
