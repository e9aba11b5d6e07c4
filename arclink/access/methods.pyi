"""What ``methods.py`` makes from declarations, for editors and type checkers."""

from collections.abc import Sequence
from datetime import date, datetime
from os import PathLike
from typing import Literal

from arclink.charts.results import RowResult

Time = str | date | datetime
Place = str | PathLike[str]

class Methods:
    """What a graph answers in rows: a method for each capability."""

    def anchors(
        self,
        uri: str,
        *,
        from_: Time | None = None,
        to: Time | None = None,
        at: Time | None = None,
        kinds: str | Sequence[str] = 'navigation',
        redirects: Literal['yes', 'no', 'only'] = 'yes',
        filter: str | Sequence[str] | None = None,
        by: Literal['day', 'month', 'year', 'host', 'day,host', 'month,host', 'year,host', 'host,day', 'host,month', 'host,year'] | None = None,
        limit: int = 0,
    ) -> RowResult:
        """The texts of the links to a URI, with counts.

        Args:
            uri: The URI of the query; all variants with the same SURT match. Without :// and
                without a known opaque scheme, http is assumed. A method before it, as in POST
                http://example.org/form, names the captures that answer this method. Expected: a
                URI such as http://example.org/, of at most 65,536 characters, without control
                characters.
            from_: Only captures at or after this time; 2010 means the beginning of 2010.
                Expected: 1 to 14 digits such as 2013 or 20130211, or ISO 8601 such as
                2013-02-11T10:20:30Z. By default: all time.
            to: Only captures at or before this time; 2010 means the end of 2010. Expected: 1 to
                14 digits such as 2013 or 20130211, or ISO 8601 such as 2013-02-11T10:20:30Z. By
                default: all time.
            at: Links of the mementos in force at the end of this time; cannot be combined with
                from or to. Expected: 1 to 14 digits such as 2013 or 20130211, or ISO 8601 such
                as 2013-02-11T10:20:30Z.
            kinds: Only links of these kinds. Expected: navigation, resources, other or all, or
                element and attribute, such as a@href or img@src.
            redirects: Whether redirects (http@location, http@refresh, meta@refresh) count as
                links. Expected: yes, no or only.
            filter: Only links whose field contains the value. With =, the field is the value;
                with ~, a regular expression (RE2) matches from its beginning; ! negates.
                Expected: [!][=~]field:value, with a field of uri, surt, host, kind, text, rel
                and a value of at most 1,000 characters.
            by: One row per text for each day, month or year, for each host of the linking
                pages, or both. Expected: day, month, year or host, or one of the first and
                host: month,host. By default: all together.
            limit: Largest number of rows in each list of the answer, such as the links of one
                direction; 0 for all. Expected: a number from 1 to 999999, or 0 for all.

        Raises:
            BadParameterError: A value is not allowed.
            StoreError: The store cannot be read.
        """

    def diff(
        self,
        uri: str,
        from_: Time,
        to: Time,
        *,
        direction: Literal['out', 'in', 'both'] = 'both',
        kinds: str | Sequence[str] = 'navigation',
        redirects: Literal['yes', 'no', 'only'] = 'yes',
        filter: str | Sequence[str] | None = None,
        limit: int = 0,
    ) -> RowResult:
        """Links that were added, removed and kept.

        Args:
            uri: The URI of the query; all variants with the same SURT match. Without :// and
                without a known opaque scheme, http is assumed. A method before it, as in POST
                http://example.org/form, names the captures that answer this method. Expected: a
                URI such as http://example.org/, of at most 65,536 characters, without control
                characters.
            from_: The earlier state: at the end of this time. Expected: 1 to 14 digits such as
                2013 or 20130211, or ISO 8601 such as 2013-02-11T10:20:30Z.
            to: The later state: at the end of this time. Expected: 1 to 14 digits such as 2013
                or 20130211, or ISO 8601 such as 2013-02-11T10:20:30Z.
            direction: Outlinks, inlinks, or both. Expected: out, in or both.
            kinds: Only links of these kinds. Expected: navigation, resources, other or all, or
                element and attribute, such as a@href or img@src.
            redirects: Whether redirects (http@location, http@refresh, meta@refresh) count as
                links. Expected: yes, no or only.
            filter: Only links whose field contains the value. With =, the field is the value;
                with ~, a regular expression (RE2) matches from its beginning; ! negates.
                Expected: [!][=~]field:value, with a field of uri, surt, host, kind, text, rel
                and a value of at most 1,000 characters.
            limit: Largest number of rows in each list of the answer, such as the links of one
                direction; 0 for all. Expected: a number from 1 to 999999, or 0 for all.

        Raises:
            BadParameterError: A value is not allowed.
            StoreError: The store cannot be read.
        """

    def count(
        self,
        *,
        by: Literal['year', 'month', 'status', 'mime', 'host', 'domain', 'lang', 'type', 'method', 'file'] | None = None,
    ) -> RowResult:
        """The number of captures and URIs of a subset, and of captures by a property.

        Args:
            by: Count captures by this property. Expected: year, month, status, mime, host,
                domain, lang, type, method or file. By default: totals only.

        Raises:
            BadParameterError: A value is not allowed.
            StoreError: The store cannot be read.
        """

    def path(
        self,
        begin: str,
        end: str,
        *,
        find: Literal['earliest', 'shortest'] = 'earliest',
        when: Literal['seen', 'in-force'] = 'seen',
        from_: Time | None = None,
        to: Time | None = None,
        kinds: str | Sequence[str] = 'navigation',
        redirects: Literal['yes', 'no', 'only'] = 'yes',
        most_pages: int = 20000,
        most_hops: int = 20,
    ) -> RowResult:
        """A path of links between two URIs that follows time.

        Args:
            begin: Where the path begins. Expected: a URI such as http://example.org/, of at
                most 65,536 characters, without control characters.
            end: Where it ends. Expected: a URI such as http://example.org/, of at most 65,536
                characters, without control characters.
            find: The path that arrives first, or the path with the fewest links. Expected:
                earliest or shortest.
            when: When a link can be followed: at its mementos, or until the next memento of its
                page. Expected: seen or in-force.
            from_: Only captures at or after this time; 2010 means the beginning of 2010.
                Expected: 1 to 14 digits such as 2013 or 20130211, or ISO 8601 such as
                2013-02-11T10:20:30Z. By default: all time.
            to: Only captures at or before this time; 2010 means the end of 2010. Expected: 1 to
                14 digits such as 2013 or 20130211, or ISO 8601 such as 2013-02-11T10:20:30Z. By
                default: all time.
            kinds: Only links of these kinds. Expected: navigation, resources, other or all, or
                element and attribute, such as a@href or img@src.
            redirects: Whether redirects (http@location, http@refresh, meta@refresh) count as
                links. Expected: yes, no or only.
            most_pages: Maximum number of pages to search. Expected: a whole number from 1 to
                1000000000.
            most_hops: Maximum number of links of a shortest path. Expected: a whole number from
                1 to 1000.

        Raises:
            BadParameterError: A value is not allowed.
            StoreError: The store cannot be read.
        """

    def pagerank(
        self,
        *,
        by: str = 'month',
        level: Literal['uri', 'host', 'domain'] = 'uri',
        kinds: str | Sequence[str] = 'navigation',
        redirects: Literal['yes', 'no', 'only'] = 'yes',
        in_force: bool = False,
        top: int = 10,
        compare: bool = False,
        captured: bool = False,
        uri: str | None = None,
        damping: float = 0.85,
        weight: Literal['mementos', 'contents', 'links'] | None = None,
        self_links: bool = False,
        tolerance: float = 1e-12,
        iterations: int = 1000,
    ) -> RowResult:
        """Temporal PageRank: the nodes with the highest rank, by window of time.

        Args:
            by: Windows of time. Expected: day, month, year, all, or times and ranges of them
                such as 2009-11,2010-01/2010-03.
            level: Level of the nodes. Expected: uri, host or domain.
            kinds: Only links of these kinds. Expected: navigation, resources, other or all, or
                element and attribute, such as a@href or img@src.
            redirects: Whether redirects (http@location, http@refresh, meta@refresh) count as
                links. Expected: yes, no or only.
            in_force: Count a link in all windows from its first to its last memento, not only
                in those of its mementos. Expected: true or false.
            top: Number of nodes to show. Expected: a whole number from 1 to 1000000.
            compare: Compare the top nodes of each window with those of the next window and of
                all time. Expected: true or false.
            captured: Show and compare only nodes captured in the window; ranks are still those
                of all nodes. Expected: true or false.
            uri: Show the rank of one URI, or of its host or domain, through time. Expected: a
                URI such as http://example.org/, of at most 65,536 characters, without control
                characters.
            damping: Probability that a reader follows a link. Expected: a number above 0, at
                most 0.999999.
            weight: Weight of an edge: its number of mementos, contents or links. Expected:
                mementos, contents or links. By default: 1 for every edge.
            self_links: Also count links of a node to itself. Expected: true or false.
            tolerance: Stop when the sum of the changes of all ranks is less than this.
                Expected: a number above 0.
            iterations: Maximum number of iterations. Expected: a whole number from 1 to
                1000000.

        Raises:
            BadParameterError: A value is not allowed.
            StoreError: The store cannot be read.
        """

    def properties(
        self,
        *,
        by: str = 'month',
        level: Literal['uri', 'host', 'domain'] = 'uri',
        kinds: str | Sequence[str] = 'navigation',
        redirects: Literal['yes', 'no', 'only'] = 'yes',
        in_force: bool = False,
    ) -> RowResult:
        """Sizes, degrees and components of the graph, in total and by window.

        Args:
            by: Windows of time. Expected: day, month, year, all, or times and ranges of them
                such as 2009-11,2010-01/2010-03.
            level: Level of the nodes. Expected: uri, host or domain.
            kinds: Only links of these kinds. Expected: navigation, resources, other or all, or
                element and attribute, such as a@href or img@src.
            redirects: Whether redirects (http@location, http@refresh, meta@refresh) count as
                links. Expected: yes, no or only.
            in_force: Count a link in all windows from its first to its last memento, not only
                in those of its mementos. Expected: true or false.

        Raises:
            BadParameterError: A value is not allowed.
            StoreError: The store cannot be read.
        """
