"""A model's graph without its weights, which stay in the model's file, and made to multiply whole numbers.

Owns rewriting the ONNX file of ``minilm``. The file stores weights as int8; loaded unchanged, all of them become
float32 first (92 MB, half of which is the embedding table, although a question looks up only a dozen words) and are
multiplied as such. Rewritten:

- words are looked up first, and only what is found is converted;
- before a product with weights, each row of the other factor is rounded to 7 bits by its own largest number, so
  whole numbers are multiplied, and their sum, which is exact, is scaled afterwards. A row's result depends on no other
  row, so a text has the same vector whatever is embedded with it. The eighth bit is left out since processors without
  VNNI add two products in 16 bits, where two of 255 times 127 have no room;
- large tensors are given by their offset in the file, which is mapped once for all processes.

What that costs and brings: docs/adr/0004-embedding-model.md.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ovillo.search.embedders.protocol_buffers import Field, copied, fields, texts, written

#: Numbers of the fields of onnx.proto3 that are read or written.
_MODEL_GRAPH = 7
_GRAPH_NODE, _GRAPH_TENSOR, _GRAPH_VALUE = 1, 5, 13
_NODE_INPUT, _NODE_OUTPUT, _NODE_OPERATOR, _NODE_ATTRIBUTE = 1, 2, 4, 5
_ATTRIBUTE_NAME, _ATTRIBUTE_NUMBER, _ATTRIBUTE_NUMBERS, _ATTRIBUTE_TYPE = 1, 3, 8, 20
_TENSOR_TYPE, _TENSOR_NAME, _TENSOR_RAW, _TENSOR_PLACE, _TENSOR_LOCATION = 2, 8, 9, 13, 14
_VALUE_NAME = 1
_ENTRY_KEY, _ENTRY_VALUE = 1, 2
#: Values of ``TensorProto.DataType``, ``TensorProto.DataLocation`` and ``AttributeProto.AttributeType``.
_FLOAT, _UINT8, _INT8 = 1, 2, 3
_EXTERNAL = 1
_ONE_NUMBER, _SEVERAL_NUMBERS = 2, 7

#: The embedding table in float32, and input and output of the lookup.
_TABLE = "inner.embeddings.word_embeddings.weight"
_WORDS, _FOUND = "input_ids", "embedding"
#: Constants of the new nodes: the largest number of 7 bits with a sign, what stands for zero without one, and what a row
#: of zeros has as its largest.
_LARGEST, _MIDDLE, _ZERO, _LEAST = "rows/largest", "rows/middle", "rows/zero", "rows/least"
#: Smaller tensors stay in the graph (bytes).
_LARGE = 64 * 1024


class _Node(NamedTuple):
    field: Field
    operator: str
    inputs: list[str]
    output: str
    attributes: list[bytes]


class _Weights(NamedTuple):
    """The tensors that float32 weights are computed from, and what is computed between them and the product."""

    whole: str
    unscaled: str
    scales: str


def without_weights(model: memoryview, file_name: str) -> bytes:
    """The graph of ``model``; a session needs the folder of the file with that name, which holds ``model``."""
    return b"".join(
        written(_MODEL_GRAPH, _graph(model, field, file_name)) if field.number == _MODEL_GRAPH else copied(model, field)
        for field in fields(model, 0, len(model))
    )


def _graph(model: memoryview, graph: Field, file_name: str) -> bytes:
    parts = list(fields(model, graph.begin, graph.end))
    nodes = [_node_of(model, part) for part in parts if part.number == _GRAPH_NODE]
    weights = _weights(nodes)
    gone = {_TABLE, *weights, *(each.unscaled for each in weights.values())}
    done = [written(_GRAPH_NODE, each) for each in _rewritten(model, nodes, weights)]
    done += [written(_GRAPH_TENSOR, each) for each in _constants()]
    for part in parts:
        if part.number == _GRAPH_TENSOR:
            done.append(_tensor(model, part, file_name))
        elif part.number != _GRAPH_NODE and not (
            part.number == _GRAPH_VALUE and texts(model, part, _VALUE_NAME)[0] in gone
        ):
            done.append(copied(model, part))
    return b"".join(done)


def _weights(nodes: Sequence[_Node]) -> dict[str, _Weights]:
    """By name, the weights that are looked up or multiplied with."""
    used = {_TABLE, *(node.inputs[1] for node in nodes if node.operator == "MatMul")}
    casts = {node.output: node.inputs[0] for node in nodes if node.operator == "Cast"}
    return {
        node.output: _Weights(casts[node.inputs[0]], *node.inputs)
        for node in nodes
        if node.operator == "Mul" and node.output in used and node.inputs[0] in casts
    }


def _rewritten(model: memoryview, nodes: Sequence[_Node], weights: dict[str, _Weights]) -> Iterable[bytes]:
    gone = {*weights, *(each.unscaled for each in weights.values())}
    attributes = {node.output: node.attributes for node in nodes if node.output in gone}
    rounded: set[str] = set()
    for node in nodes:
        if node.output in gone:
            continue
        if node.output == _FOUND:
            yield from _looking_up(weights[_TABLE], node.attributes, attributes[weights[_TABLE].unscaled])
        elif node.operator == "MatMul" and node.inputs[1] in weights:
            rows = node.inputs[0]
            if rows not in rounded:
                # Several products share a factor: the three of attention.
                yield from _rounding(rows)
                rounded.add(rows)
            yield from _multiplying(rows, weights[node.inputs[1]], node.output)
        else:
            yield bytes(model[node.field.begin : node.field.end])


def _looking_up(table: _Weights, gathering: Sequence[bytes], casting: Sequence[bytes]) -> list[bytes]:
    """Look up, then convert; in the file it is the other way round."""
    rows, unscaled, scales = f"{_FOUND}_q", f"{_FOUND}_f", f"{_FOUND}_scale"
    return [
        _node("Gather", [table.whole, _WORDS], rows, gathering),
        _node("Cast", [rows], unscaled, casting),
        _node("Gather", [table.scales, _WORDS], scales, gathering),
        _node("Mul", [unscaled, scales], _FOUND),
    ]


def _rounding(rows: str) -> list[bytes]:
    """``ROWS/whole`` of 1 to 127, where 64 is zero, and ``ROWS/unit``, by which each row is multiplied afterwards."""
    return [
        _node("Abs", [rows], f"{rows}/abs"),
        _node("ReduceMax", [f"{rows}/abs"], f"{rows}/most", [_numbers("axes", [-1]), _one_number("keepdims", 1)]),
        _node("Max", [f"{rows}/most", _LEAST], f"{rows}/some"),
        _node("Div", [f"{rows}/some", _LARGEST], f"{rows}/unit"),
        _node("Div", [rows, f"{rows}/unit"], f"{rows}/share"),
        _node("Round", [f"{rows}/share"], f"{rows}/signed"),
        _node("Add", [f"{rows}/signed", _MIDDLE], f"{rows}/moved"),
        _node("Cast", [f"{rows}/moved"], f"{rows}/whole", [_one_number("to", _UINT8)]),
    ]


def _multiplying(rows: str, weights: _Weights, output: str) -> list[bytes]:
    return [
        _node("MatMulInteger", [f"{rows}/whole", weights.whole, _ZERO], f"{output}/sum"),
        _node("Cast", [f"{output}/sum"], f"{output}/float", [_one_number("to", _FLOAT)]),
        _node("Mul", [f"{output}/float", f"{rows}/unit"], f"{output}/unscaled"),
        _node("Mul", [f"{output}/unscaled", weights.scales], output),
    ]


def _constants() -> list[bytes]:
    numbers = {_LARGEST: 63.0, _MIDDLE: 64.0, _LEAST: 1e-12}
    return [
        *(_scalar(name, _FLOAT, struct.pack("<f", number)) for name, number in numbers.items()),
        _scalar(_ZERO, _UINT8, bytes([64])),
    ]


# --- messages of onnx.proto3


def _node_of(model: memoryview, field: Field) -> _Node:
    found: dict[int, list[Field]] = {}
    for each in fields(model, field.begin, field.end):
        found.setdefault(each.number, []).append(each)
    inputs, outputs, operators = (
        [str(model[each.begin : each.end], "utf-8") for each in found.get(number, ())]
        for number in (_NODE_INPUT, _NODE_OUTPUT, _NODE_OPERATOR)
    )
    attributes = [bytes(model[each.begin : each.end]) for each in found.get(_NODE_ATTRIBUTE, ())]
    return _Node(field, operators[0], inputs, outputs[0], attributes)


def _node(operator: str, inputs: Sequence[str], output: str, attributes: Sequence[bytes] = ()) -> bytes:
    parts = [written(_NODE_INPUT, each) for each in inputs]
    parts += [written(_NODE_OUTPUT, output), written(_NODE_OPERATOR, operator)]
    return b"".join(parts + [written(_NODE_ATTRIBUTE, each) for each in attributes])


def _one_number(name: str, value: int) -> bytes:
    return written(_ATTRIBUTE_NAME, name) + written(_ATTRIBUTE_NUMBER, value) + written(_ATTRIBUTE_TYPE, _ONE_NUMBER)


def _numbers(name: str, values: Sequence[int]) -> bytes:
    # Negative numbers are written as the number of 64 bits that has the same bits.
    many = b"".join(written(_ATTRIBUTE_NUMBERS, value % 2**64) for value in values)
    return written(_ATTRIBUTE_NAME, name) + many + written(_ATTRIBUTE_TYPE, _SEVERAL_NUMBERS)


def _scalar(name: str, type_: int, raw: bytes) -> bytes:
    return written(_TENSOR_TYPE, type_) + written(_TENSOR_NAME, name) + written(_TENSOR_RAW, raw)


def _tensor(model: memoryview, tensor: Field, file_name: str) -> bytes:
    """A large int8 tensor as a reference to its place in the file, any other unchanged: float32 may be unaligned there."""
    parts = list(fields(model, tensor.begin, tensor.end))
    raw = next((each for each in parts if each.number == _TENSOR_RAW), None)
    is_whole = any(each.number == _TENSOR_TYPE and each.value == _INT8 for each in parts)
    if raw is None or not is_whole or raw.end - raw.begin < _LARGE:
        return copied(model, tensor)
    place = {"location": file_name, "offset": str(raw.begin), "length": str(raw.end - raw.begin)}
    rest = [copied(model, each) for each in parts if each is not raw]
    rest += [
        written(_TENSOR_PLACE, written(_ENTRY_KEY, key) + written(_ENTRY_VALUE, value)) for key, value in place.items()
    ]
    return written(_GRAPH_TENSOR, b"".join(rest) + written(_TENSOR_LOCATION, _EXTERNAL))
