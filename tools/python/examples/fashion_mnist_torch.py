#!/usr/bin/python3
"""An MLP on Fashion-MNIST in PyTorch: _plain.py alone, _torch.py averaged over a mesh."""

import gzip
import sys

import numpy as np
import p2ptrain
import torch

FOLDER = "/usr/share/datasets/fashion-mnist"


def read_idx(name, header_bytes):
    with gzip.open(f"{FOLDER}/{name}.gz") as file:
        return np.frombuffer(file.read(), dtype=np.uint8, offset=header_bytes)


def read_set(part):
    labels = read_idx(f"{part}-labels-idx1-ubyte", 8).astype(np.int64)
    images = read_idx(f"{part}-images-idx3-ubyte", 16).reshape(len(labels), -1)
    inputs = (images.astype(np.float32) / 255 - 0.286) / 0.353
    return torch.utils.data.TensorDataset(torch.from_numpy(inputs), torch.from_numpy(labels))


def main(epochs):
    torch.manual_seed(42)
    train, test = read_set("train"), read_set("t10k")
    model = torch.nn.Sequential(
        torch.nn.Linear(784, 256), torch.nn.ReLU(),
        torch.nn.Linear(256, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
    loss_fn = torch.nn.CrossEntropyLoss()
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

    job = {"train.samples": epochs * len(train), "schedule.base_lr": 0.05}
    with p2ptrain.averaging(model, opt, job="fashion-torch", settings=job) as avg:
        for x, y in p2ptrain.loader(train, batch_size=64):
            opt.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            avg.log(loss)
            opt.step()

    with torch.no_grad():
        x, y = test.tensors
        accuracy = (model(x).argmax(dim=1) == y).float().mean().item()
    print(f"accuracy {100 * accuracy:.1f} % after a last loss of {loss.item():.3f}")


if __name__ == "__main__":
    main(epochs=int(sys.argv[1]) if len(sys.argv) > 1 else 3)
