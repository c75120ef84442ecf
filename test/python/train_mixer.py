"""A mixer of the library in a training loop of PyTorch's, on a task that needs memory: the token behind the last one like this.

usage: train_mixer.py [STEPS]: prints losses; fails when it does not learn. Run by tools/wheel --test, which has a PyTorch.
"""

import sys
import time

import support  # noqa: F401
import torch

import hybrid.torch

WIDTH, BATCH, LENGTH, KEYS = 32, 16, 24, 6
THREADS = {"threads": 1}  # there is nothing to share in layers so small


def batch(draw):
    """Pairs of a key and a value, and at the end a key again: what was its value?"""
    keys = torch.stack([torch.randperm(KEYS, generator=draw) for _ in range(BATCH)])
    values = torch.randint(KEYS, 2 * KEYS, (BATCH, KEYS), generator=draw)
    pairs = torch.stack([keys, values], 2).flatten(1)
    asked = torch.randint(0, KEYS, (BATCH, LENGTH - 2 * KEYS), generator=draw)
    answers = torch.gather(values, 1, torch.argsort(keys, 1).gather(1, asked))
    return torch.cat([pairs, asked], 1), answers


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(2 * KEYS, WIDTH)
        self.shift = hybrid.torch.layer("std.delta", "gated_deltanet", width=WIDTH, heads=2, batch=BATCH, length=LENGTH, **THREADS)
        self.mixer = hybrid.torch.layer("std.delta", "gated_deltanet", width=WIDTH, heads=2, batch=BATCH, length=LENGTH, seed=1, **THREADS)
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(WIDTH) for _ in range(3))
        self.head = torch.nn.Linear(WIDTH, 2 * KEYS)

    def forward(self, tokens):
        x = self.embedding(tokens)
        x = x + self.shift(self.norms[0](x))
        x = x + self.mixer(self.norms[1](x))
        return self.head(self.norms[2](x))


def main():
    torch.manual_seed(0)
    draw = torch.Generator().manual_seed(0)
    net, steps, start = Net(), int(sys.argv[1]) if len(sys.argv) > 1 else 100, time.time()
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
    losses = []
    for step in range(steps):
        tokens, answers = batch(draw)
        logits = net(tokens)[:, 2 * KEYS :]
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % 50 == 49:
            print(f"step {step + 1}: loss {sum(losses[-10:]) / 10:.3f}, {time.time() - start:.1f} s", flush=True)
    last = sum(losses[-10:]) / 10
    if last > 0.7 * losses[0]:
        sys.exit(f"the loss went from {losses[0]:.3f} to {last:.3f} only: it does not learn")


if __name__ == "__main__":
    main()
