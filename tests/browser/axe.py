"""What axe-core finds wrong with a page."""

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page


def violations(page: "Page", axe: str) -> list[str]:
    page.add_script_tag(content=axe)
    found: dict[str, Any] = json.loads(
        page.evaluate("axe.run().then(found => JSON.stringify(found))")
    )
    assert len(found["passes"]) > 10
    return [
        f"{one['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for one in found["violations"]
        for node in one["nodes"]
    ]
