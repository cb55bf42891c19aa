#!/usr/bin/python3
"""What nn_bench measures, in PyTorch: one thread, the MLP 784-256-128-10, a batch in memory.

Prints one line a measurement: name, samples a second. Exits 77 where torch is not installed.
"""

import sys
import time

try:
    import torch
except ImportError:
    print("nn_torch.py: PyTorch is not installed (apt-get install python3-torch)", file=sys.stderr)
    sys.exit(77)

SECONDS = 2.0
OPTIMIZERS = {
    "train_sgd": lambda p: torch.optim.SGD(p, lr=1e-4, momentum=0.9, weight_decay=1e-4),
    "train_adamw": lambda p: torch.optim.AdamW(p, lr=1e-4, weight_decay=1e-4),
}


def make_model():
    torch.manual_seed(1)
    widths = [784, 256, 128, 10]
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def samples_per_second(step, batch_size):
    """The best of five runs of SECONDS / 5, after a warm-up: the machine is shared."""
    for _ in range(20):
        step()
    best = 0.0
    for _ in range(5):
        steps = 0
        begin = time.perf_counter()
        while time.perf_counter() - begin < SECONDS / 5:
            step()
            steps += 1
        best = max(best, steps * batch_size / (time.perf_counter() - begin))
    return best


def training_step(make_optimizer, batch_size):
    model = make_model()
    optimizer = make_optimizer(model.parameters())
    inputs = torch.randn(batch_size, 784)
    labels = torch.randint(0, 10, (batch_size,))
    loss = torch.nn.CrossEntropyLoss()

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss(model(inputs), labels).backward()
        optimizer.step()

    return step


def evaluation_step(batch_size):
    model = make_model().eval()
    inputs = torch.randn(batch_size, 784)
    labels = torch.randint(0, 10, (batch_size,))
    loss = torch.nn.CrossEntropyLoss(reduction="sum")

    @torch.no_grad()
    def step():
        logits = model(inputs)
        loss(logits, labels).item()
        (logits.argmax(1) == labels).sum().item()

    return step


def main():
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, one thread")
    for name, make_optimizer in OPTIMIZERS.items():
        for batch_size in (32, 64, 128):
            rate = samples_per_second(training_step(make_optimizer, batch_size), batch_size)
            print(f"{name}/torch/batch:{batch_size:<4} {rate:10.0f} samples/s")
    rate = samples_per_second(evaluation_step(256), 256)
    print(f"evaluate/torch/batch:256 {rate:10.0f} samples/s")


if __name__ == "__main__":
    main()
