"""Instances of the program's classes: rebuilt if it registered them, shown if not, and no code of theirs runs."""

from __future__ import annotations

import dataclasses
import enum
import pickle
import sys
from typing import Any, NamedTuple

import pydantic
import pytest

from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.values import RecordedObject, TypeRegistry, decode_value, snapshot

TYPES = TypeRegistry()


@TYPES.register
class Mood(enum.Enum):
    GOOD = "good"
    FUNCTION = len


@dataclasses.dataclass
class Part:
    mood: Mood


@TYPES.register
@dataclasses.dataclass
class Reply:
    text: str
    parts: list[Part]

    def __post_init__(self) -> None:
        self.runs = getattr(self, "runs", 0) + 1
        self.client = object()


class Strict(pydantic.BaseModel):
    name: str

    @pydantic.field_validator("name")
    @classmethod
    def shout(cls, name: str) -> str:
        return name + "!"


class Wrapper(pydantic.BaseModel):
    inner: Strict | None = None


class Item(NamedTuple):
    a: int


def back(value: Any, types: TypeRegistry | None) -> Any:
    return decode_value(snapshot(value).tree, types=types)


def test_a_registered_class_brings_the_classes_of_its_fields() -> None:
    value = back(Reply("hi", [Part(Mood.GOOD)]), TYPES)
    assert value == Reply("hi", [Part(Mood.GOOD)])
    assert type(value.parts[0]) is Part
    assert value.runs == 1, "the constructor did not run again"
    assert not hasattr(value, "client"), "an attribute that could not be stored is left out, and stated"
    assert [loss.pointer for loss in snapshot(Reply("hi", [])).losses] == ["/extra/client"]


def test_validators_do_not_run_again() -> None:
    wrapper = Wrapper(inner=Strict(name="a"))
    again = back(wrapper, TypeRegistry(list[Wrapper]))
    assert again == wrapper
    assert again.inner.name == "a!"
    assert again.model_fields_set == {"inner"}
    assert again.model_dump_json() == wrapper.model_dump_json()


def test_unregistered_classes_come_as_stated_read_only_stand_ins() -> None:
    value = back([Reply("hi", []), Mood.GOOD, Item(3), Strict(name="n")], TypeRegistry())
    assert [type(item) for item in value] == [RecordedObject] * 4
    assert value[0].type_name == f"{__name__}:Reply"
    assert value[0].text == "hi"
    assert value[2].fields == {"a": 3}
    assert "Reply text='hi'" in repr(value[0])
    with pytest.raises(AttributeError):
        value[0].text = "other"
    with pytest.raises(AttributeError):
        _ = value[0].nothing


def test_stand_ins_compare_hash_and_record_again_as_what_they_stand_for() -> None:
    first, second, other = (back(Item(n), None) for n in (1, 1, 2))
    assert first == second != other
    assert {first, second, other} == {first, other}
    assert pickle.loads(pickle.dumps(first)) == first
    assert snapshot([first]).stored == snapshot([Item(1)]).stored
    assert back({Item(1)}, None) == {first}


def test_enum_members_are_found_by_name_when_their_value_cannot_be_stored() -> None:
    assert back(Mood.FUNCTION, TYPES) is Mood.FUNCTION if isinstance(Mood.FUNCTION, Mood) else True
    holder = enum.Enum("holder", {"LOCK": object()}, module=__name__)
    assert back(holder.LOCK, TypeRegistry(holder)) is holder.LOCK  # type: ignore[attr-defined]


def test_a_class_that_changed_since_is_an_error_that_names_it() -> None:
    now = enum.Enum("Mood", {"BAD": "bad"}, module=__name__)
    tree = {"$stash": "enum", "class": f"{__name__}:Mood", "name": "GOOD", "value": "good"}
    with pytest.raises(StashError, match="Mood has no member that is the recorded GOOD") as caught:
        decode_value(tree, types=TypeRegistry(now))
    assert caught.value.code == ErrorCode.INVALID_RECORDING
    slim = dataclasses.make_dataclass("Slim", ["a"], slots=True)
    slim.__module__ = __name__
    with pytest.raises(StashError, match="Slim"):
        decode_value(
            {"$stash": "dataclass", "class": f"{__name__}:Slim", "fields": {"gone": 1}}, types=TypeRegistry(slim)
        )


def test_a_class_recorded_in_main_is_found_by_its_name() -> None:
    assert TYPES.class_for("__main__:Reply") is Reply
    assert TYPES.class_for("elsewhere:Reply") is None


def test_nothing_is_imported_because_a_file_says_so() -> None:
    for name in ("antigravity:Thing", "this:s", "os:system", "subprocess:Popen", f"{__name__}:Part"):
        value = decode_value({"$stash": "dataclass", "class": name, "fields": {}}, types=TypeRegistry())
        assert type(value) is RecordedObject
    assert "antigravity" not in sys.modules
    assert "this" not in sys.modules


def test_registries_copy_and_extend_without_changing() -> None:
    base = TypeRegistry(Mood)
    more = base.with_types(dict[str, Item])
    assert more.class_for(f"{__name__}:Item") is Item
    assert base.class_for(f"{__name__}:Item") is None
    assert base.copy().class_for(f"{__name__}:Mood") is Mood
    with pytest.raises(StashError):
        base.register(3)  # type: ignore[type-var]
