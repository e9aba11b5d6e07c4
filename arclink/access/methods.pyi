"""What ``arclink.access.methods`` makes from declarations, for editors and type checkers."""

from arclink.access.capabilities import Place
from arclink.access.capabilities import Time
from arclink.analysis.charts.results import RowResult
from arclink.analysis.export.exports import Exported
from arclink.analysis.questions.asking import AskAnswer
from arclink.captures.stream import CaptureStream
from arclink.captures.write import TakenAway
from arclink.linkgraph import Links
from collections.abc import Sequence
from typing import Literal
import networkx as nx
import pandas as pd
import rdflib

class Methods:
    """What a graph answers: a method for each capability, and those with declared keywords."""

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
        from_: Time | None = None,
        to: Time | None = None,
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
                2013 or 20130211, or ISO 8601 such as 2013-02-11T10:20:30Z. By default: required
                for a page.
            to: The later state: at the end of this time. Expected: 1 to 14 digits such as 2013
                or 20130211, or ISO 8601 such as 2013-02-11T10:20:30Z. By default: required for
                a page.
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
                in those of its mementos.
            top: Number of nodes to show. Expected: a whole number from 1 to 1000000.
            compare: Compare the top nodes of each window with those of the next window and of
                all time.
            captured: Show and compare only nodes captured in the window; ranks are still those
                of all nodes.
            uri: Show the rank of one URI, or of its host or domain, through time. Expected: a
                URI such as http://example.org/, of at most 65,536 characters, without control
                characters.
            damping: Probability that a reader follows a link. Expected: a number above 0, at
                most 0.999999.
            weight: Weight of an edge: its number of mementos, contents or links. Expected:
                mementos, contents or links. By default: 1 for every edge.
            self_links: Also count links of a node to itself.
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
                in those of its mementos.

        Raises:
            BadParameterError: A value is not allowed.
            StoreError: The store cannot be read.
        """

    def ask(
        self,
        question: str,
        *uris: str,
        scope: Literal['page', 'prefix', 'host', 'domain', 'archive'] | None = None,
        level: Literal['uri', 'host', 'domain'] | None = None,
        by: str | None = None,
        external: bool = False,
        from_: Time | None = None,
        to: Time | None = None,
        kinds: str | Sequence[str] = 'navigation',
        redirects: Literal['yes', 'no', 'only'] = 'yes',
        words: str | None = None,
        by_date: bool = False,
        of: Literal['text', 'word'] = 'text',
        new: bool = False,
        min_hosts: int = 0,
        limit: int = 0,
    ) -> AskAnswer:
        """Return the answer to a question about pages, sites or the whole archive.

        ``graph.ask("linkers", "*.example.org", by="year").to_pandas()`` says who linked to a site.
        Answers are read from the same tables as `sql`.

        Args:
            question: Its name (``docs/reference/questions.md``).
            uris: What it is about: ``http://example.org/page``, ``http://example.org/news/*`` or
                ``*.example.org``; several for a row about each; none for the whole archive.
            scope: What of the address is meant: the page, all pages that begin like it, its
                host, its host and all hosts below it (domain), or everything (archive).
                Expected: page, prefix, host, domain or archive. By default: what the address
                says with or without an asterisk; archive without an address.
            level: How pages are named in rows: each by its URI, or together as hosts or
                registered domains. It makes no difference to questions whose rows are something
                else. Expected: uri, host or domain. By default: the level of the question.
            by: Rows for each day, month or year of capture, or for each window of time that is
                listed. Expected: day, month, year, all, or times and ranges of them such as
                2009-11,2010-01/2010-03. By default: all time together, unless the question is
                about periods.
            external: Only links from other sites: from other hosts; at the level of domains,
                from other domains; to a domain, from outside of it. Addresses without a host,
                such as mailto:, are no sites.
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
            words: The words that `find`, `search`, `frequency` and `first-said` look for:
                words, phrases in quotation marks such as "queryable state", and beginnings of
                words with an asterisk such as stream*. In addresses, `find` finds parts of
                words, too. Expected: words, phrases in quotation marks, and beginnings of words
                with an asterisk after them, at most 20, of together at most 1,000 characters.
                By default: every page.
            by_date: In `search`: pages that said it last come first.
            of: What `typical-anchors` counts: whole texts of links, or their words. Expected:
                text or word.
            new: Only links that an earlier capture of the page did not have, in `survival`: the
                age of others is not known.
            min_hosts: Only rows with at least this number of linking hosts, in questions that
                count these. Expected: a whole number from 0 to 999999999.
            limit: Largest number of rows in each list of the answer, such as the links of one
                direction; 0 for all. Expected: a number from 1 to 999999, or 0 for all.

        Raises:
            BadParameterError: There is no such question, or a parameter is wrong.
            UsageError: The graph shows one time, or it has no path.
            OperatorError: The tables cannot be written.
        """

    def outlinks(
        self,
        uri: str,
        *,
        match_type: Literal['exact', 'prefix', 'host', 'domain'] = 'exact',
        from_: Time | None = None,
        to: Time | None = None,
        at: Time | None = None,
        kinds: str | Sequence[str] = 'all',
        redirects: Literal['yes', 'no', 'only'] = 'yes',
        filter: str | Sequence[str] | None = None,
        follow: bool = False,
        evidence: bool = False,
        validity: bool = False,
        limit: int = 0,
    ) -> Links:
        """Return the links of a page, with the mementos that show them.

        Args:
            uri: The URI of the query; all variants with the same SURT match. Without :// and
                without a known opaque scheme, http is assumed. A method before it, as in POST
                http://example.org/form, names the captures that answer this method. Expected: a
                URI such as http://example.org/, of at most 65,536 characters, without control
                characters.
            match_type: Links of this URI (exact), of all URIs that begin like it (prefix: their
                SURTs begin with its SURT), of its host, or of its host and all subdomains
                (domain). Expected: exact, prefix, host or domain.
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
            follow: If the newest memento in the range of time is a redirect, answer for its
                target.
            evidence: Show the mementos of each link, with archive file, offset and checksum;
                not with --format table.
            validity: Show between which mementos each link appeared and disappeared.
            limit: Largest number of rows in each list of the answer, such as the links of one
                direction; 0 for all. Expected: a whole number from 0.

        Raises:
            BadParameterError: A parameter is wrong.
        """

    def inlinks(
        self,
        uri: str,
        *,
        match_type: Literal['exact', 'prefix', 'host', 'domain'] = 'exact',
        from_: Time | None = None,
        to: Time | None = None,
        at: Time | None = None,
        kinds: str | Sequence[str] = 'all',
        redirects: Literal['yes', 'no', 'only'] = 'yes',
        filter: str | Sequence[str] | None = None,
        follow: bool = False,
        evidence: bool = False,
        validity: bool = False,
        limit: int = 0,
    ) -> Links:
        """Return the links to a page, which may never have been captured itself.

        Args:
            uri: The URI of the query; all variants with the same SURT match. Without :// and
                without a known opaque scheme, http is assumed. A method before it, as in POST
                http://example.org/form, names the captures that answer this method. Expected: a
                URI such as http://example.org/, of at most 65,536 characters, without control
                characters.
            match_type: Links of this URI (exact), of all URIs that begin like it (prefix: their
                SURTs begin with its SURT), of its host, or of its host and all subdomains
                (domain). Expected: exact, prefix, host or domain.
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
            follow: If the newest memento in the range of time is a redirect, answer for its
                target.
            evidence: Show the mementos of each link, with archive file, offset and checksum;
                not with --format table.
            validity: Show between which mementos each link appeared and disappeared.
            limit: Largest number of rows in each list of the answer, such as the links of one
                direction; 0 for all. Expected: a whole number from 0.

        Raises:
            BadParameterError: A parameter is wrong.
        """

    def stream(
        self,
        *,
        cache: Place | None = None,
        order: Literal['file', 'surt', 'time', 'rank'] = 'surt',
        part: str = '1/1',
        after: str | None = None,
        limit: int = 0,
    ) -> CaptureStream:
        """Return every capture of the graph with its bytes, each once; read one before the next.

        Each capture has a token, ``after``; a stream with this token continues after it, in any
        process. At the end, ``end()`` of the stream says whether it is complete. Captures whose
        ``read`` fails are counted there only if the caller reports them with ``lose``.

        Args:
            cache: Folder for rank tables; by default next to a store that ``arclink.open`` opened.
            order: By archive file and offset, by SURT, by time, or by PageRank. The orders file
                and time sort all captures first; surt starts at once. Expected: file, surt,
                time or rank.
            part: Only the hosts of part K of N; the parts 1/N to N/N have each capture once.
                Expected: K/N, such as 3/16, with K not greater than N.
            after: Continue after the capture with this token; it is in each capture and at the
                end of the stream. By default: from the first capture on.
            limit: Largest number of rows in each list of the answer, such as the links of one
                direction; 0 for all. Expected: a number from 1 to 999999999, or 0 for all.

        Raises:
            BadParameterError: A parameter is wrong, the token is damaged or of another stream, or
                there is no folder for rank tables.
            GoneError: The rank table of the token was removed.
            UsageError: The graph shows one time only (`at`).
        """

    def to_networkx(
        self,
        level: Literal['uri', 'host', 'domain'] = 'host',
        *,
        from_: Time | None = None,
        to: Time | None = None,
        at: Time | None = None,
        kinds: str | Sequence[str] | None = None,
        redirects: Literal['yes', 'no', 'only'] = 'yes',
        min_count: int = 1,
        top: int | None = None,
        core: int | None = None,
        backbone: float | None = None,
    ) -> nx.DiGraph:
        """Return the graph of all links at a level.

        Nodes are URIs (with their ``surt``), hosts or domains, and have the attributes of
        `arclink.analysis.export.graphs.NodeFacts`. Links have ``weight`` (number of mementos that
        show the link), ``first`` and ``last`` (14 digits). The whole graph is held in memory.

        Args:
            level: Level of the nodes. Expected: uri, host or domain. By default: host for
                graphs, uri for tables.
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
                element and attribute, such as a@href or img@src. By default: navigation; a@href
                in csv, img@src in csv-images, all in nquads.
            redirects: Whether redirects (http@location, http@refresh, meta@refresh) count as
                links. Expected: yes, no or only.
            min_count: Leave out links that fewer mementos show, and in tables of counts the
                rows with fewer links; 1 leaves out nothing. Expected: a number from 1 on.
            top: Only the N nodes with the most linking nodes. Expected: a number from 1 on.
            core: Only nodes with at least N neighbours among the remaining nodes. Expected: a
                number from 1 on.
            backbone: Only links that are significant at this level (disparity filter), such as
                0.05. Expected: a number above 0, at most 1.

        Raises:
            BadParameterError: A parameter is wrong.
            UsageError: networkx is not installed.
        """

    def to_pandas(
        self,
        level: Literal['uri', 'host', 'domain'] = 'host',
        *,
        from_: Time | None = None,
        to: Time | None = None,
        at: Time | None = None,
        kinds: str | Sequence[str] | None = None,
        redirects: Literal['yes', 'no', 'only'] = 'yes',
        min_count: int = 1,
        top: int | None = None,
        core: int | None = None,
        backbone: float | None = None,
    ) -> pd.DataFrame:
        """Return a row per link between nodes: source, target, mementos, first, last (UTC).

        See `to_networkx`.

        Args:
            level: Level of the nodes. Expected: uri, host or domain. By default: host for
                graphs, uri for tables.
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
                element and attribute, such as a@href or img@src. By default: navigation; a@href
                in csv, img@src in csv-images, all in nquads.
            redirects: Whether redirects (http@location, http@refresh, meta@refresh) count as
                links. Expected: yes, no or only.
            min_count: Leave out links that fewer mementos show, and in tables of counts the
                rows with fewer links; 1 leaves out nothing. Expected: a number from 1 on.
            top: Only the N nodes with the most linking nodes. Expected: a number from 1 on.
            core: Only nodes with at least N neighbours among the remaining nodes. Expected: a
                number from 1 on.
            backbone: Only links that are significant at this level (disparity filter), such as
                0.05. Expected: a number above 0, at most 1.

        Raises:
            BadParameterError: A parameter is wrong.
            UsageError: pandas is not installed.
        """

    def export(
        self,
        path: Place,
        format: Literal['parquet', 'csv', 'csv-images', 'nquads', 'graphml', 'gexf', 'arcs', 'weblab', 'duckdb', 'cc-index', 'arch'],
        *,
        level: Literal['uri', 'host', 'domain'] | None = None,
        from_: Time | None = None,
        to: Time | None = None,
        at: Time | None = None,
        kinds: str | Sequence[str] | None = None,
        redirects: Literal['yes', 'no', 'only'] = 'yes',
        min_count: int = 1,
        top: int | None = None,
        core: int | None = None,
        backbone: float | None = None,
        spells: Literal['observed', 'in-force'] = 'observed',
    ) -> Exported:
        """Write the graph to a file with a manifest (``docs/reference/exports.md``).

        Args:
            path: The path of the file; an existing file is replaced. With ``weblab``, ``cc-index``
                and ``arch`` the path of a new folder.
            format: Format of the file. Expected: parquet, csv, csv-images, nquads, graphml,
                gexf, arcs, weblab, duckdb, cc-index or arch.
            level: Level of the nodes. Expected: uri, host or domain. By default: host for
                graphs, uri for tables.
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
                element and attribute, such as a@href or img@src. By default: navigation; a@href
                in csv, img@src in csv-images, all in nquads.
            redirects: Whether redirects (http@location, http@refresh, meta@refresh) count as
                links. Expected: yes, no or only.
            min_count: Leave out links that fewer mementos show, and in tables of counts the
                rows with fewer links; 1 leaves out nothing. Expected: a number from 1 on.
            top: Only the N nodes with the most linking nodes. Expected: a number from 1 on.
            core: Only nodes with at least N neighbours among the remaining nodes. Expected: a
                number from 1 on.
            backbone: Only links that are significant at this level (disparity filter), such as
                0.05. Expected: a number above 0, at most 1.
            spells: With gexf: the times at which a link exists. Expected: observed or in-force.

        Raises:
            BadParameterError: A parameter is wrong.
            UsageError: A package that the format needs is not installed.
            ExportError: The file cannot be written, or the graph is too large for the format's
                tools.
        """

    def export_captures(
        self,
        path: Place,
        format: Literal['warc', 'wacz', 'cdxj', 'captures', 'captures-csv'] = 'warc',
        *,
        from_: Time | None = None,
        to: Time | None = None,
        file_size: int = 1000000000,
        check: bool = False,
    ) -> TakenAway:
        """Write the captures themselves to files with a manifest (``docs/how-to/take-away.md``).

        Args:
            path: The path of the file; existing files are replaced.
            format: Format of the file. Expected: warc, wacz, cdxj, captures or captures-csv.
            from_: Only captures at or after this time; 2010 means the beginning of 2010.
                Expected: 1 to 14 digits such as 2013 or 20130211, or ISO 8601 such as
                2013-02-11T10:20:30Z. By default: all time.
            to: Only captures at or before this time; 2010 means the end of 2010. Expected: 1 to
                14 digits such as 2013 or 20130211, or ISO 8601 such as 2013-02-11T10:20:30Z. By
                default: all time.
            file_size: With warc and wacz: begin another WARC file after this number of bytes.
                Expected: a whole number from 1000000 to 1000000000000.
            check: With warc and wacz: decompress every record, so that damage inside a record
                is found, too. This takes longer.

        Raises:
            BadParameterError: A parameter is wrong.
            UsageError: The name of the file does not fit the format, or a package that the format
                needs is not installed.
            ExportError: The file cannot be written, or no capture can be read.
        """

    def to_rdf(
        self,
        uri: str = '',
        *,
        match_type: Literal['exact', 'prefix', 'host', 'domain'] = 'exact',
        from_: Time | None = None,
        to: Time | None = None,
        at: Time | None = None,
        kinds: str | Sequence[str] = 'all',
        redirects: Literal['yes', 'no', 'only'] = 'yes',
        filter: str | Sequence[str] | None = None,
        follow: bool = False,
        evidence: bool = False,
        validity: bool = False,
    ) -> rdflib.Graph:
        """Return links as an rdflib graph, held in memory; each link is a named node.

        The graphs of two archives merge by union (RDF profile ``links``,
        ``docs/reference/service.md``).

        Args:
            uri: The links of this page, in both directions; without it, every link of the store.
                Other keywords need a URI.
            match_type: Links of this URI (exact), of all URIs that begin like it (prefix: their
                SURTs begin with its SURT), of its host, or of its host and all subdomains
                (domain). Expected: exact, prefix, host or domain.
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
            follow: If the newest memento in the range of time is a redirect, answer for its
                target.
            evidence: Show the mementos of each link, with archive file, offset and checksum;
                not with --format table.
            validity: Show between which mementos each link appeared and disappeared.

        Raises:
            BadParameterError: A parameter is wrong.
            UsageError: rdflib is not installed, or there are parameters without a URI.
        """
