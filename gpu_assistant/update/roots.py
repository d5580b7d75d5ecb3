"""Who may sign releases: the root of trust, and its successors, each signed by the one before it (decision 0017).

Two roles, as The Update Framework has them (https://theupdateframework.github.io/specification/latest/, 5.3): the root
keys lie on a computer without network and sign nothing but root statements; the release keys sign each release. The
program brings root 1 (`updates.json`); an answer brings the chain after it. A successor counts if it has the next
number, and enough of the old and enough of its own root keys signed it, so that no key of the release can name others.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import msgspec
from msgspec import Struct

from ..catalog.records.updates import RootStatement, UpdateKey
from ..core import json
from .signed_statement import ResponseRejected, SignedText, signer_keys


class TrustedRoot(Struct, frozen=True):
    """The newest root that is known, and the signed texts that lead to it from the one in the program."""

    root: RootStatement
    chain: tuple[SignedText, ...] = ()

    def follow(self, chain: Sequence[SignedText]) -> TrustedRoot:
        """The newest root after this one; those that are known already are passed over. Raises ResponseRejected."""
        trusted, followed = self.root, list(self.chain)
        for each in chain:
            candidate = parse_root(each.statement)
            if candidate.version <= trusted.version:
                continue
            is_next = candidate.version == trusted.version + 1
            if not is_next or not (_is_signed(each, trusted) and _is_signed(each, candidate)):
                raise ResponseRejected("forged")
            trusted = candidate
            followed.append(each)
        return TrustedRoot(trusted, tuple(followed))

    def check_date(self, today: date) -> None:
        """Raise ResponseRejected("expired") for a root that no longer holds: who answers keeps back its successor."""
        if self.root.expires < today:
            raise ResponseRejected("expired")


def parse_root(text: str) -> RootStatement:
    """A root statement's own text; raises ResponseRejected("garbage")."""
    try:
        return json.decode(text, RootStatement)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ResponseRejected("garbage") from error


def _is_signed(signed: SignedText, root: RootStatement) -> bool:
    """Whether enough different keys of a root signed a text."""
    return len(signer_keys(signed, _unique(root.keys))) >= root.threshold


def _unique(keys: Sequence[UpdateKey]) -> tuple[UpdateKey, ...]:
    """Each key once, whatever names it has."""
    return tuple({key.ed25519: key for key in keys}.values())
