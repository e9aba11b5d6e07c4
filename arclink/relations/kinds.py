"""The kinds of links that a query counts, in SQL."""

from collections.abc import Callable

from arclink.model import Kind
from arclink.relations.database import ShownRelations
from arclink.relations.writing import quoted


def add_kinds(relations: ShownRelations, wants: Callable[[Kind], bool]) -> None:
    """Make the table ``kinds`` (kind, is_wanted), and the view ``wanted`` of links that count."""
    relations.run("CREATE TEMP TABLE kinds (kind VARCHAR, is_wanted BOOLEAN)")
    for (kind,) in relations.run("SELECT DISTINCT kind FROM links"):
        relations.run(f"INSERT INTO kinds VALUES ({quoted(kind)}, {wants(Kind(kind))})")
    relations.run(
        "CREATE TEMP VIEW wanted AS SELECT links.* FROM links JOIN kinds USING (kind) "
        "WHERE is_wanted"
    )
