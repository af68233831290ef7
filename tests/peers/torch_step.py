"""One training step of the toy GDN-2 language model in PyTorch: what Palimpsest's own step stands beside.

The model is Palimpsest's default, with as many parameters: width 64, 2 layers, 2 heads, K = V = 32, convolution of 4 taps, SwiGLU x2,
64 symbols, tied head, float32 with PyTorch's defaults, clip 1, AdamW. The scan is written with PyTorch's operations in chunks, or is FLA's
Triton kernel where fla-core is installed. On a GPU each is timed as Python runs it and as a captured CUDA graph, where Python costs nothing.

    torch_step.py [--lengths 64 256] [--batch 64] [--scans 16 32 64 fla] [--compile]     on the GPU
    torch_step.py --cpu                                                                  on one thread of the CPU

A scan is `fla`, or the tokens per chunk: which of them is fastest depends on the device, so each is a row. Prints one JSON object a line,
times in ms. On the CPU, `cpu_ms` is the thread's own time, which other work on the machine does not lengthen.
"""

import argparse
import functools
import json
import platform
import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn

from gated_delta import chunked, fla_chunked


def scan_named(name):
    return fla_chunked if name == 'fla' else functools.partial(chunked, chunk=int(name))


def rms_norm(x, weight):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * weight


class Mixer(nn.Module):
    """GDN-2: q, k, v through a causal convolution and SiLU, unit q and k, gates, scan, norm, output gate."""

    def __init__(self, width, heads, key, value, scan, taps=4):
        super().__init__()
        self.heads, self.taps, self.scan = heads, taps, scan

        def linear(inputs, outputs, bias=False):
            return nn.Linear(inputs, outputs, bias=bias)

        self.q, self.k, self.v = linear(width, heads * key), linear(width, heads * key), linear(width, heads * value)
        self.erase, self.write = linear(width, heads * key, bias=True), linear(width, heads * value, bias=True)
        self.decay = nn.Sequential(linear(width, value), linear(value, heads * key))  # of rank V
        self.a_log, self.dt_bias = nn.Parameter(torch.full((heads,), 1.5)), nn.Parameter(torch.full((heads * key,), -4.0))
        self.gate, self.out = linear(width, heads * value), linear(heads * value, width)
        self.norm = nn.Parameter(torch.ones(value))
        self.filters = nn.ParameterList(nn.Parameter(0.2 * torch.randn(heads * size, 1, taps)) for size in (key, key, value))

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1))  # [B, T, H, K or V]

    def convolved(self, x, taps):
        padded = F.pad(x.transpose(1, 2), (self.taps - 1, 0))
        return self.split(F.silu(F.conv1d(padded, taps, groups=x.shape[-1]).transpose(1, 2)))

    def forward(self, x):
        q, k, v = (self.convolved(project(x), taps) for project, taps in zip((self.q, self.k, self.v), self.filters))
        q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
        g = -self.a_log.exp()[:, None] * self.split(F.softplus(self.decay(x) + self.dt_bias))
        o = self.scan(q, k, v, g, self.split(self.erase(x)).sigmoid(), self.split(self.write(x)).sigmoid())
        return self.out((rms_norm(o, self.norm) * self.split(self.gate(x)).sigmoid()).flatten(2))


class Block(nn.Module):
    def __init__(self, width, heads, key, value, mlp, scan):
        super().__init__()
        self.before_mixer, self.before_mlp = nn.Parameter(torch.ones(width)), nn.Parameter(torch.ones(width))
        self.mixer = Mixer(width, heads, key, value, scan)
        self.gate, self.up, self.down = (nn.Linear(*size, bias=False) for size in ((width, mlp * width),) * 2 + ((mlp * width, width),))

    def forward(self, x):
        x = x + self.mixer(rms_norm(x, self.before_mixer))
        h = rms_norm(x, self.before_mlp)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class LanguageModel(nn.Module):
    def __init__(self, scan, vocab=64, width=64, layers=2, heads=2, key=32, value=32, mlp=2):
        super().__init__()
        self.embedding = nn.Embedding(vocab, width)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.blocks = nn.ModuleList(Block(width, heads, key, value, mlp, scan) for _ in range(layers))
        self.norm = nn.Parameter(torch.ones(width))

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return rms_norm(x, self.norm) @ self.embedding.weight.T


def training_step(scan, batch, length, device, compiled):
    """A function that trains one step on one fixed batch and returns its loss, a tensor."""
    torch.manual_seed(0)
    model = LanguageModel(scan).to(device)
    parameters = list(model.parameters())
    on_gpu = device == 'cuda'
    optimizer = torch.optim.AdamW(parameters, lr=3e-3, weight_decay=0.01, fused=True, capturable=on_gpu)
    tokens, targets = (torch.randint(0, 64, (batch, length), device=device) for _ in range(2))
    run = torch.compile(model) if compiled else model

    def step():
        optimizer.zero_grad(set_to_none=not on_gpu)
        loss = F.cross_entropy(run(tokens).flatten(0, 1), targets.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0, foreach=True)
        optimizer.step()
        return loss.detach()

    step.parameters = sum(parameter.numel() for parameter in parameters)
    return step


def summary(times):
    return dict(ms=round(statistics.median(times), 4), min=round(min(times), 4), max=round(max(times), 4), samples=len(times))


def gpu_times(run, samples=20, together=5, warm=5):
    """Milliseconds of a run by CUDA events. A sample queues several and waits once, as a training loop does."""
    for _ in range(warm):
        run()
    times = []
    for _ in range(samples):
        torch.cuda.synchronize()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(together):
            run()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / together)
    return times


def captured(run):
    """The same work as a CUDA graph."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


def cpu_times(run, samples, warm=2):
    for _ in range(warm):
        run()
    wall, own = [], []
    for _ in range(samples):
        start, started = time.perf_counter(), time.thread_time()
        run()
        own.append(1e3 * (time.thread_time() - started))
        wall.append(1e3 * (time.perf_counter() - start))
    return summary(wall) | dict(cpu_ms=round(statistics.median(own), 4), cpu_min=round(min(own), 4))


def falls(step, steps=5):
    """Whether the loss falls over a few steps on the same batch: a step that does not train is not worth timing."""
    losses = [float(step()) for _ in range(steps)]
    if not losses[-1] < losses[0]:
        raise RuntimeError(f'the loss went from {losses[0]:.4f} to {losses[-1]:.4f}: this is no training')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--lengths', type=int, nargs='+', default=[64, 256])
    parser.add_argument('--batch', type=int, default=64)
    parser.add_argument('--scans', nargs='+', help='fla, or tokens per chunk; 16 32 64 on the GPU and 4 8 16 on the CPU if not given')
    parser.add_argument('--samples', type=int, default=0, help='samples; 20 of five steps on the GPU and 7 of one on the CPU if not given')
    parser.add_argument('--compile', action='store_true', help='through torch.compile, too: takes a minute or more to build')
    parser.add_argument('--cpu', action='store_true', help='on one thread of the CPU')
    asked = parser.parse_args()
    device = 'cpu' if asked.cpu else 'cuda'
    scans = asked.scans or (['4', '8', '16'] if asked.cpu else ['16', '32', '64'])
    if asked.cpu:
        torch.set_num_threads(1)
    on = f'{platform.processor() or platform.machine()}, 1 thread' if asked.cpu else torch.cuda.get_device_name()

    for length in asked.lengths:
        for scan in scans:
            for compiled in [False, True] if asked.compile else [False]:
                about = dict(what='training step', torch=torch.__version__, scan=scan, compiled=compiled, on=on, batch=asked.batch, length=length)
                try:
                    step = training_step(scan_named(scan), asked.batch, length, device, compiled)
                    falls(step)
                    about['parameters'] = step.parameters
                    if asked.cpu:
                        print(json.dumps(about | cpu_times(step, asked.samples or 7)), flush=True)
                        continue
                    print(json.dumps(about | dict(run='eager') | summary(gpu_times(step, asked.samples or 20))), flush=True)
                    print(json.dumps(about | dict(run='CUDA graph') | summary(gpu_times(captured(step), asked.samples or 20))), flush=True)
                except Exception as error:  # one row that fails leaves the others
                    print(json.dumps(about | dict(error=repr(error)[:200])), flush=True)


if __name__ == '__main__':
    main()
