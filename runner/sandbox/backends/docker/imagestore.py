"""The engine's image calls: look up, list ours, load an archive, tag, remove. There is no pull among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO

import docker
from docker.errors import ImageNotFound

from runner.errors import ImageUnavailable, SetupError, printable
from runner.images.inputs import CREATED
from runner.images.lock import ImageRecord
from runner.images.naming import IMAGE_LABEL, LAYERS_LABEL, RECIPE_LABEL
from runner.sandbox.backends.docker.engine import engine_errors
from runner.sandbox.image import ResolvedImage, is_image_id


class EngineImages:
    """What we ask an engine about images."""

    def __init__(self, api: docker.APIClient) -> None:
        self._api = api

    def by_name(self, name: str) -> ResolvedImage | None:
        """The image that has this name now. The caller vouches for the name's form."""
        attributes = self._inspect(name)
        return None if attributes is None else resolved(attributes, name, "name")

    def by_digest(self, digest: str) -> ResolvedImage | None:
        """The image whose ID or manifest digest this is, on either kind of image store."""
        attributes = self._inspect(digest)
        if attributes is not None and digest in _digests(attributes):
            return resolved(attributes, _first_tag(attributes), "id")
        with engine_errors("list images"):
            summaries = self._api.images()
        for summary in summaries:
            if digest in _digests(summary):
                attributes = self._inspect(str(summary["Id"]))
                if attributes is not None:
                    return resolved(attributes, _first_tag(attributes), "id")
        return None

    def built(self, name: str, recipe: str | None = None) -> list[ResolvedImage]:
        """Our own builds of image ``name``, of one recipe or of any; not what others derived from them.

        A derived image inherits our labels, but neither our time stamp nor our number of layers.
        """
        label = f"{RECIPE_LABEL}={recipe}" if recipe else f"{IMAGE_LABEL}={name}"
        with engine_errors("list images"):  # podman finds nothing by two labels at once
            summaries = self._api.images(filters={"label": [label]})
        found = []
        for identity in sorted({str(summary["Id"]) for summary in summaries}):
            attributes = self._inspect(identity)
            if attributes is not None and _is_ours(attributes, name):
                found.append(resolved(attributes, _first_tag(attributes), "id"))
        return found

    def load(self, archive: BinaryIO, record: ImageRecord) -> ResolvedImage:
        """Load one of our archives and make sure that the engine now has that very image.

        Raises SetupError when the engine refuses it, ImageUnavailable when it made another image of it.
        """
        with engine_errors("load an image"):
            for event in self._api.load_image(archive):  # type: ignore[no-untyped-call]
                if "error" in event:
                    raise SetupError(f"the engine refused the image: {printable(str(event['error']))[:300]}",
                                     hint="runner images build --no-cache")
        found = self.present(record)
        if found is None:
            raise ImageUnavailable(f"the engine made another image than {record.id} of our archive",
                                   hint="runner images build --no-cache")
        return found

    def present(self, record: ImageRecord) -> ResolvedImage | None:
        """The image of this record, if the engine has it."""
        for digest in (record.id, record.manifest):
            attributes = self._inspect(digest)
            if attributes is not None:
                return resolved(attributes, _first_tag(attributes), "id")
        return None

    def tag(self, identity: str, tag: str) -> None:
        """Let ``tag`` (``repository:tag``) name the image; whatever had the name loses it."""
        repository, _, name = tag.rpartition(":")
        with engine_errors("tag an image"):
            self._api.tag(identity, repository, name, force=True)

    def remove(self, reference: str) -> None:
        """Remove a tag or, by ID, an image that no container uses; one that is gone already is fine."""
        with engine_errors("remove an image"):
            try:
                self._api.remove_image(reference)
            except ImageNotFound:
                return

    def _inspect(self, reference: str) -> dict[str, Any] | None:
        with engine_errors("look up an image"):
            try:
                attributes: dict[str, Any] = self._api.inspect_image(reference)  # type: ignore[no-untyped-call]
            except ImageNotFound:
                return None
        return attributes


def resolved(attributes: Mapping[str, Any], name: str, matched: str) -> ResolvedImage:
    """The pure part: an engine's description of an image as ours. ``digests`` are its manifest digests."""
    config = attributes.get("Config") or {}
    return ResolvedImage(
        id=str(attributes["Id"]), name=name, matched=matched,
        platform=f"{attributes.get('Os', '')}/{attributes.get('Architecture', '')}",
        digests=tuple(sorted(_manifests(attributes))),
        env=tuple(str(value) for value in config.get("Env") or ()),
        volumes=tuple(sorted(config.get("Volumes") or ())),
        labels=tuple(sorted((str(key), str(value)) for key, value in (config.get("Labels") or {}).items())),
        size=int(attributes.get("Size") or 0))


def _digests(attributes: Mapping[str, Any]) -> set[str]:
    return {str(attributes["Id"]), *_manifests(attributes)}


def _manifests(attributes: Mapping[str, Any]) -> set[str]:
    named = {str(entry).rpartition("@")[2] for entry in attributes.get("RepoDigests") or ()}
    described = str((attributes.get("Descriptor") or {}).get("digest", ""))
    return {digest for digest in (*named, described) if is_image_id(digest)}


def _first_tag(attributes: Mapping[str, Any]) -> str:
    return min((str(tag) for tag in attributes.get("RepoTags") or ()), default="")


def _is_ours(attributes: Mapping[str, Any], name: str) -> bool:
    labels = (attributes.get("Config") or {}).get("Labels") or {}
    layers = (attributes.get("RootFS") or {}).get("Layers") or ()
    return labels.get(IMAGE_LABEL) == name and str(attributes.get("Created", "")) == CREATED \
        and str(len(layers)) == labels.get(LAYERS_LABEL, "1")
