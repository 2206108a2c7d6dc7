#!/usr/bin/env python3
"""Times the same training step and decoding in PyTorch on a GPU, as a user would write it: bf16 autocast over float32
weights, scaled_dot_product_attention, fused AdamW; eager, or with --compile through torch.compile.

    python3 bench_torch_gpu.py --dim 512 --layers 8 --heads 8 --ffn 1408 --vocab 8192 --batch 16 --seq 1024 [--compile]

Prints one JSON object with the keys of `fullband-cli bench --json` that it has figures for. Medians over --reps.
"""
import argparse
import json
import math
import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn


def rms(x):
    return x * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6).to(x.dtype)


def attend(q, k, v, causal):
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])  # before PyTorch 2
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], device=q.device).triu(1).bool(), float("-inf"))
    return scores.softmax(-1) @ v


class Block(nn.Module):
    def __init__(self, dim, heads, ffn, scale):
        super().__init__()
        self.heads, self.scale = heads, scale
        self.attn_gain, self.mlp_gain = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.ones(dim))
        self.qkv, self.out = nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, dim, bias=False)
        self.gate_up, self.down = nn.Linear(dim, 2 * ffn, bias=False), nn.Linear(ffn, dim, bias=False)

    def turn(self, x, cos, sin):
        a, b = rms(x).chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    def forward(self, x, cos, sin, cache=None, place=0):
        batch, seq, dim = x.shape
        q, k, v = self.qkv(rms(x) * self.attn_gain).view(batch, seq, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        cos, sin = cos.to(v.dtype), sin.to(v.dtype)
        q, k = self.turn(q, cos, sin).to(v.dtype), self.turn(k, cos, sin).to(v.dtype)
        if cache is not None:
            cache[0][:, :, place:place + seq], cache[1][:, :, place:place + seq] = k, v
            k, v = cache[0][:, :, :place + seq], cache[1][:, :, :place + seq]
        y = attend(q, k, v, seq > 1)
        x = x + self.scale * self.out(y.transpose(1, 2).reshape(batch, seq, dim))
        gate, up = self.gate_up(rms(x) * self.mlp_gain).chunk(2, -1)
        return x + self.scale * self.down(F.silu(gate) * up)


class Model(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.embed = nn.Embedding(a.vocab, a.dim)
        nn.init.normal_(self.embed.weight, std=0.5)
        scale = 1 / math.sqrt(2 * a.layers)
        self.blocks = nn.ModuleList(Block(a.dim, a.heads, a.ffn, scale) for _ in range(a.layers))
        self.final_gain = nn.Parameter(torch.ones(a.dim))
        self.wu, self.wg = nn.Linear(a.dim, a.dim, bias=False), nn.Linear(a.dim, a.dim, bias=False)
        half = a.dim // a.heads // 2
        angle = torch.arange(a.seq + a.decode)[:, None] * 1e4 ** (-torch.arange(half) / half)
        self.register_buffer("cos", angle.cos())
        self.register_buffer("sin", angle.sin())

    def stack(self, x, caches=None, place=0):
        turn = slice(place, place + x.shape[1])
        for i, block in enumerate(self.blocks):
            x = block(x, self.cos[turn], self.sin[turn], None if caches is None else caches[i], place)
        return rms(x) * self.final_gain

    def fused(self, h, e):
        return rms(self.wu(h) * torch.sigmoid(self.wg(rms(e))))

    def head(self, h):
        return F.linear(h, self.embed.weight)

    def forward(self, tokens, targets, passes, plain):
        """The first pass's loss plus the mean of the others'; in those, positions from `plain` on are fused."""
        e = self.embed(tokens)
        h = self.stack(rms(e))
        losses = [F.cross_entropy(self.head(h).flatten(0, 1), targets.flatten())]
        place = torch.arange(tokens.shape[1], device=tokens.device)
        for k in range(passes - 1):
            before = F.pad((h + 0.04 * torch.rand_like(h) - 0.02)[:, :-1], (0, 0, 1, 0))
            is_plain = (place[None] < plain[k][:, None])[..., None]
            h = self.stack(torch.where(is_plain, rms(e), self.fused(before, e)))
            losses.append(F.cross_entropy(self.head(h).flatten(0, 1), targets.flatten()))
        return losses[0] + (sum(losses[1:]) / (passes - 1) if passes > 1 else 0)


def waiter(device):
    return torch.cuda.synchronize if device.startswith("cuda") else lambda: None


def median_time(work, reps, wait, warm_up):
    times = []
    for i in range(reps + warm_up):
        wait()
        begin = time.perf_counter()
        work()
        wait()
        if i >= warm_up:
            times.append(time.perf_counter() - begin)
    return statistics.median(times)


def time_training(a, model, passes, wait):
    run = torch.compile(model) if a.compile else model
    on_gpu = a.device.startswith("cuda")
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), **({"fused": True} if on_gpu else {}))
    tokens, targets = torch.randint(0, a.vocab, (2, a.batch, a.seq), device=a.device)
    plain = torch.randint(1, a.seq, (max(passes - 1, 1), a.batch), device=a.device)

    def step():
        with torch.autocast(a.device.split(":")[0], dtype=torch.bfloat16):
            loss = run(tokens, targets, passes, plain)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_([p for p in model.parameters() if p.grad is not None], 1.0)
        optimiser.step()

    return a.batch * a.seq / median_time(step, a.reps, wait, 3)


@torch.no_grad()
def decode(a, model, mode):
    shape = (1, a.heads, a.seq + a.decode, a.dim // a.heads)
    caches = [[torch.zeros(shape, device=a.device, dtype=torch.bfloat16) for _ in "kv"] for _ in model.blocks]
    tokens = torch.randint(0, a.vocab, (1, 32), device=a.device)
    with torch.autocast(a.device.split(":")[0], dtype=torch.bfloat16):
        h = model.stack(rms(model.embed(tokens)), caches)[:, -1:]
        for i in range(a.decode):
            e = model.embed(model.head(h)[:, -1].argmax(-1)[:, None])
            h = model.stack(rms(e) if mode == "standard" else model.fused(h, e), caches, 32 + i)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("dim", 512), ("layers", 8), ("heads", 8), ("ffn", 1408), ("vocab", 8192), ("batch", 16),
                        ("seq", 1024), ("reps", 5), ("decode", 64)):
        ap.add_argument("--" + name, type=int, default=value)
    ap.add_argument("--passes", default="1,2,3")
    ap.add_argument("--device", default="cuda")
    ap.add_argument("--compile", action="store_true")
    a = ap.parse_args()
    torch.manual_seed(1)
    wait = waiter(a.device)
    model = Model(a).to(a.device)
    result = {"train_tokens_per_s": {}, "decode_ms_per_token": {}}
    for passes in map(int, a.passes.split(",")):
        result["train_tokens_per_s"][str(passes)] = time_training(a, model, passes, wait)
    if a.device.startswith("cuda"):
        result["device_memory_mib"] = torch.cuda.max_memory_allocated() / 2**20
    for mode in ("standard", "soft"):
        seconds = median_time(lambda m=mode: decode(a, model, m), max(1, a.reps // 2), wait, 1)
        result["decode_ms_per_token"][mode] = 1e3 * seconds / a.decode
    print(json.dumps(result))


if __name__ == "__main__":
    main()
