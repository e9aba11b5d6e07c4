"""Runs axe-core on a page, and returns the accessibility problems that it finds."""

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page


def violations(page: "Page", axe: str, inside: str = "html", least: int = 11) -> list[str]:
    """Return the violations in the element that a selector names.

    Args:
        page: The page.
        axe: The program of axe-core.
        inside: Selector of the element.
        least: Number of rules that must have applied, so that the element was really looked at.
    """
    page.add_script_tag(content=axe)
    found: dict[str, Any] = json.loads(
        page.evaluate("inside => axe.run(inside).then(found => JSON.stringify(found))", inside)
    )
    assert len(found["passes"]) >= least
    return [
        f"{one['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for one in found["violations"]
        for node in one["nodes"]
    ]
