#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
"""Multi-head attention against PyTorch on the CPU: torch.nn.MultiheadAttention with the same weights, put where cudnnGetMultiHeadAttnWeights
says, and its gradients by autograd; layers that it does not have (sizes of projections, none, beams) against the formula in torch.

usage: attn.py PATH_OF_LIBCUDNN.SO.8
"""

import ctypes
import sys

import torch

from oracle import DOUBLE, FLOAT, Library, Score, pointer

TIME, BATCH, BEAM, VECTOR = range(4)
OWN, BIAS = 1, 2
KINDS = ["q", "k", "v", "o"]


class Layer:
    """A descriptor with its buffers; tensors are batch x beam x time x vector here."""

    def __init__(self, lib, dtype, mode, heads, scale, sizes, projections, s, t, n, b):
        self.lib, self.dtype, self.mode, self.heads, self.scale = lib, dtype, mode, heads, scale
        self.sizes, self.projections, self.s, self.t, self.n, self.b = sizes, projections, s, t, n, b
        self.type = DOUBLE if dtype == torch.float64 else FLOAT
        self.desc = lib.make("AttnDescriptor")
        lib.call("cudnnSetAttnDescriptor", self.desc, mode, heads, ctypes.c_double(scale), self.type, self.type, 0, None, None,
                 *sizes, *projections, s, t, n, b)
        counts = [ctypes.c_size_t() for _ in range(3)]
        lib.call("cudnnGetMultiHeadAttnBuffers", lib.handle, self.desc, *[ctypes.byref(c) for c in counts])
        self.weight_bytes, self.work_bytes, self.reserve_bytes = [c.value for c in counts]
        self.weights = torch.zeros(self.weight_bytes // torch.tensor([], dtype=dtype).element_size(), dtype=dtype)
        self.work = torch.zeros(self.work_bytes, dtype=torch.uint8)
        self.reserve = torch.zeros(self.reserve_bytes, dtype=torch.uint8)

    def view(self, buffer, kind):
        """heads x rows x columns of a kind of weights inside a buffer, or None."""
        desc, at = self.lib.make("TensorDescriptor"), ctypes.c_void_p()
        self.lib.call("cudnnGetMultiHeadAttnWeights", self.lib.handle, self.desc, kind, ctypes.c_size_t(self.weight_bytes), pointer(buffer),
                      desc, ctypes.byref(at))
        if not at.value:
            return None
        kind_of, rank, dims, strides = ctypes.c_int(), ctypes.c_int(), (ctypes.c_int * 3)(), (ctypes.c_int * 3)()
        self.lib.call("cudnnGetTensorNdDescriptor", desc, 3, ctypes.byref(kind_of), ctypes.byref(rank), dims, strides)
        self.lib.destroy("TensorDescriptor", desc)
        return torch.as_strided(buffer, list(dims), list(strides), (at.value - buffer.data_ptr()) // buffer.element_size())

    def sequence(self, time, beams, size, lengths):
        desc = self.lib.make("SeqDataDescriptor")
        ints = ctypes.c_int * 4
        flat = [max(1, x) for x in lengths]
        self.lib.call("cudnnSetSeqDataDescriptor", desc, self.type, 4, ints(time, self.n, beams, size), ints(BATCH, BEAM, TIME, VECTOR),
                      ctypes.c_size_t(len(flat)), (ctypes.c_int * len(flat))(*flat), None)
        return desc

    def run(self, q, k, v, residual, dout, q_len, k_len, lo, hi):
        """out, dq, dk, dv, dweights"""
        lib, beams = self.lib, k.shape[1]
        out = torch.zeros_like(dout)
        dq, dk, dv, dw = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v), torch.zeros_like(self.weights)
        descs = [self.sequence(self.s, self.b, q.shape[3], q_len), self.sequence(self.t, beams, k.shape[3], k_len),
                 self.sequence(self.t, beams, v.shape[3], k_len), self.sequence(self.s, self.b, dout.shape[3], q_len)]
        lo, hi = (ctypes.c_int * self.s)(*lo), (ctypes.c_int * self.s)(*hi)
        lens = [(ctypes.c_int * len(x))(*x) for x in (q_len, k_len)]
        tail = [ctypes.c_size_t(self.work_bytes), pointer(self.work), ctypes.c_size_t(self.reserve_bytes), pointer(self.reserve)]
        weights = [ctypes.c_size_t(self.weight_bytes), pointer(self.weights)]
        lib.call("cudnnMultiHeadAttnForward", lib.handle, self.desc, -1, lo, hi, *lens, descs[0], pointer(q), pointer(residual), descs[1],
                 pointer(k), descs[2], pointer(v), descs[3], pointer(out), *weights, *tail)
        lib.call("cudnnMultiHeadAttnBackwardData", lib.handle, self.desc, lo, hi, *lens, descs[3], pointer(dout), descs[0], pointer(dq),
                 pointer(q), descs[1], pointer(dk), pointer(k), descs[2], pointer(dv), pointer(v), *weights, *tail)
        lib.call("cudnnMultiHeadAttnBackwardWeights", lib.handle, self.desc, 1, descs[0], pointer(q), descs[1], pointer(k), descs[2],
                 pointer(v), descs[3], pointer(dout), *weights, pointer(dw), *tail)
        for d in descs:
            lib.destroy("SeqDataDescriptor", d)
        return out, dq, dk, dv, dw


def random(dtype, *dims):
    return torch.rand(*dims, dtype=dtype) * 2 - 1


# --- torch.nn.MultiheadAttention ---

def put_module(layer, net, embed):
    """The module's matrices have the rows of all heads one behind the other; the output's columns are heads'."""
    e = embed // layer.heads
    if net.in_proj_weight is not None:
        parts = list(net.in_proj_weight.detach().split(embed))
    else:
        parts = [w.detach() for w in (net.q_proj_weight, net.k_proj_weight, net.v_proj_weight)]
    for kind in range(3):
        layer.view(layer.weights, kind).copy_(parts[kind].reshape(layer.heads, e, -1))
    layer.view(layer.weights, 3).copy_(net.out_proj.weight.detach().reshape(embed, layer.heads, e).transpose(0, 1))
    if layer.mode & BIAS:
        for kind, part in enumerate(net.in_proj_bias.detach().split(embed)):
            layer.view(layer.weights, 4 + kind).copy_(part.reshape(layer.heads, e, 1))
        layer.view(layer.weights, 7).copy_(net.out_proj.bias.detach().reshape(1, embed, 1))


def gradient_of_module(layer, net, embed, buffer):
    """Pairs of a name, what the library put into the buffer and what autograd has."""
    e = embed // layer.heads
    if net.in_proj_weight is not None:
        parts = list(net.in_proj_weight.grad.split(embed))
    else:
        parts = [net.q_proj_weight.grad, net.k_proj_weight.grad, net.v_proj_weight.grad]
    for kind in range(3):
        yield "weights of " + KINDS[kind], layer.view(buffer, kind), parts[kind].reshape(layer.heads, e, -1)
    yield "weights of o", layer.view(buffer, 3), net.out_proj.weight.grad.reshape(embed, layer.heads, e).transpose(0, 1)
    if layer.mode & BIAS:
        for kind, part in enumerate(net.in_proj_bias.grad.split(embed)):
            yield "biases of " + KINDS[kind], layer.view(buffer, 4 + kind), part.reshape(layer.heads, e, 1)
        yield "biases of o", layer.view(buffer, 7), net.out_proj.bias.grad.reshape(1, embed, 1)


def module(lib, score, dtype, heads, embed, k_size, v_size, bias, causal, k_len, bound):
    n, s, t = len(k_len), 5, 5 if causal else 7
    name = "module heads=%d embed=%d k=%d v=%d bias=%d causal=%d %s" % (heads, embed, k_size, v_size, bias, causal, dtype)
    torch.manual_seed(heads * 100 + embed)
    net = torch.nn.MultiheadAttention(embed, heads, bias=bias, kdim=k_size, vdim=v_size, batch_first=True).to(dtype)
    with torch.no_grad():
        for p in net.parameters():
            p.uniform_(-1, 1)
    layer = Layer(lib, dtype, BIAS if bias else 0, heads, (embed // heads) ** -0.5, [embed, k_size, v_size],
                  [embed // heads] * 3 + [embed], s, t, n, 1)
    put_module(layer, net, embed)
    q, k, v, dout = [random(dtype, n, *d) for d in ((s, embed), (t, k_size), (t, v_size), (s, embed))]
    ins = [x.clone().requires_grad_() for x in (q, k, v)]
    ignored = torch.tensor([[i >= length for i in range(t)] for length in k_len])
    mask = torch.ones(s, t).triu(1).bool() if causal else None
    want, _ = net(*ins, key_padding_mask=ignored, attn_mask=mask, need_weights=False)
    want.backward(dout)
    hi = [i + 1 for i in range(s)] if causal else [t] * s
    got = layer.run(*[x.unsqueeze(1).contiguous() for x in (q, k, v)], None, dout.unsqueeze(1).contiguous(), [s] * n, k_len, [0] * s, hi)
    score.compare(name + ": out", got[0].squeeze(1), want.detach(), bound)
    for what, x, y in zip(("dq", "dk", "dv"), got[1:4], ins):
        score.compare(name + ": " + what, x.squeeze(1), y.grad, bound)
    for what, x, y in gradient_of_module(layer, net, embed, got[4]):
        score.compare(name + ": " + what, x, y, bound)


# --- the formula, for what the module does not have ---

def formula(layer, weights, q, k, v, residual, q_len, k_len, lo, hi):
    views = [layer.view(weights, kind) if weights.numel() else None for kind in range(8)]

    def project(kind, x):  # heads in front
        if views[kind] is None:
            return x.unsqueeze(0).expand(layer.heads, *x.shape)
        y = torch.einsum("hri,nbti->hnbtr", views[kind], x)
        return y + views[4 + kind].squeeze(2)[:, None, None, None] if views[4 + kind] is not None else y

    qh, kh, vh = project(0, q), project(1, k), project(2, v)
    scores = layer.scale * torch.einsum("hnbse,hnbte->hnbst", qh, kh.expand(-1, -1, layer.b, -1, -1))
    seen = torch.zeros(layer.n, layer.b, layer.s, layer.t, dtype=torch.bool)
    for i in range(layer.n):
        for b in range(layer.b):
            for s in range(q_len[i * layer.b + b]):
                length = k_len[i * k.shape[1] + (b if k.shape[1] > 1 else 0)]
                seen[i, b, s, max(0, lo[s]):max(0, min(hi[s], length))] = True
    p = torch.softmax(scores.masked_fill(~seen, float("-inf")), -1).masked_fill(~seen, 0)
    o = torch.einsum("hnbst,hnbtf->hnbsf", p, vh.expand(-1, -1, layer.b, -1, -1))
    out = o.permute(1, 2, 3, 0, 4).flatten(3) if views[3] is None else torch.einsum("hri,hnbsi->nbsr", views[3], o)
    if views[7] is not None:
        out = out + views[7].reshape(-1)
    return out + residual if residual is not None else out


def general(lib, score, dtype, mode, heads, sizes, projections, b, q_len, k_len, window, residual, bound):
    s, t, beams = 4, 6, b if mode & OWN else 1
    n = len(q_len) // b
    name = "mode=%d heads=%d sizes=%s projections=%s beams=%d %s" % (mode, heads, sizes, projections, b, dtype)
    layer = Layer(lib, dtype, mode, heads, 0.6, sizes, projections, s, t, n, b)
    layer.weights.copy_(random(dtype, layer.weights.numel()))
    out_size = projections[3] or heads * (projections[2] or sizes[2])
    q, k, v = random(dtype, n, b, s, sizes[0]), random(dtype, n, beams, t, sizes[1]), random(dtype, n, beams, t, sizes[2])
    dout, res = random(dtype, n, b, s, out_size), random(dtype, n, b, s, out_size) if residual else None
    lo, hi = ([i - window for i in range(s)], [i + window for i in range(s)]) if window else ([0] * s, [t] * s)
    for i, length in enumerate(q_len):  # rows past an end have no gradient but by the output's bias: none here
        dout[i // b, i % b, length:] = 0
    got = layer.run(q, k, v, res, dout, q_len, k_len, lo, hi)
    ins = [x.clone().requires_grad_() for x in (q, k, v)]
    weights = layer.weights.clone().requires_grad_()
    want = formula(layer, weights, *ins, res, q_len, k_len, lo, hi)
    (want * dout).sum().backward()
    score.compare(name + ": out", got[0], want.detach(), bound)
    for what, x, y in zip(("dq", "dk", "dv"), got[1:4], ins):
        y = y.grad if y.grad is not None else torch.zeros_like(y)
        score.compare(name + ": " + what, x, torch.nan_to_num(y), bound)
    if weights.numel():
        score.compare(name + ": dw", got[4], torch.nan_to_num(weights.grad), bound)


def main():
    torch.manual_seed(1)
    lib, score = Library(sys.argv[1]), Score("attention")
    for dtype, bound in ((torch.float64, 1e-12), (torch.float32, 2e-5)):
        for heads, embed, k_size, v_size in ((2, 8, 8, 8), (3, 6, 6, 6), (1, 5, 5, 5), (4, 8, 5, 7)):
            for bias in (False, True):
                for causal in (False, True):
                    module(lib, score, dtype, heads, embed, k_size, v_size, bias, causal, [5, 3, 1], bound)
        for mode in (0, BIAS, OWN, OWN | BIAS):
            for sizes, projections in (([4, 4, 4], [2, 2, 2, 4]), ([5, 6, 3], [4, 4, 2, 7]), ([4, 4, 3], [0, 0, 0, 0]), ([4, 3, 3], [0, 4, 0, 5]),
                                       ([3, 4, 3], [4, 0, 2, 0])):
                for b in (1, 3):
                    q_len = [4, 2, 3, 4, 1, 4][:2 * b]
                    k_len = [6, 3, 4, 2, 5, 6][:2 * (b if mode & OWN else 1)]
                    for window in (0, 2):
                        residual = sizes[0] == (projections[3] or 2 * (projections[2] or sizes[2]))
                        general(lib, score, dtype, mode, 2, sizes, projections, b, q_len, k_len, window, residual, bound)
    score.finish()


main()
