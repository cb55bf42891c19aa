"""The job that a client proposes where nobody has submitted it yet, as job.toml."""

import json


def _toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value)  # a JSON string is a TOML one
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    raise TypeError(f"{value!r} has no place in a job's spec")


def spec_text(job, tensors, settings):
    """`settings` are keys of job.toml by their whole names: {"train.samples": 600000, ...}.

    Every node must give the same, or they are different jobs. Either train.samples or train.minutes
    says where the job ends.
    """
    lines = {"job.name": job, "model.kind": "external", "model.tensors": tensors}
    if "mixing.codec" not in settings:
        lines["mixing.codec"] = "delta(q8)"  # a quarter of the bytes
    for key, value in settings.items():
        if key in lines:
            raise ValueError(f"{key} is given by the model and the job's name")
        lines[key] = value
    return "".join(f"{key} = {_toml(value)}\n" for key, value in lines.items())
