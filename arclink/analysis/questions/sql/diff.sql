-- The state of a page at a time is its newest capture by then whose links are known; if captures of
-- one second differ, it is all of them. A link is a page, target, kind, text and rel, as in `diff`.
WITH known AS MATERIALIZED (
    FROM said_of_part WHERE is_read_time(timestamp) AND is_known(content, status)
),
page AS (
    SELECT
        number, surt, min(uri) AS name,
        earlier_time(timestamp) AS first,
        max(timestamp) AS last
    FROM known
    GROUP BY number, surt
    HAVING first IS DISTINCT FROM last
),
side AS MATERIALIZED (
    SELECT
        known.*, name, first, last, timestamp = last AS is_last,
        payload_of(checksum, content) AS payload,
        algorithm_of(payload) AS algorithm
    FROM known JOIN page USING (number, surt)
    WHERE timestamp = first OR timestamp = last
),
compared AS (
    SELECT
        number, surt, name, first, last,
        max(status) FILTER (is_last) AS status,
        max(status) FILTER (NOT is_last) AS status_before,
        max(title) FILTER (is_last) AS title,
        max(title) FILTER (NOT is_last) AS title_before,
        list(DISTINCT payload ORDER BY payload)
            FILTER (is_last AND payload IS NOT NULL) AS payloads,
        list(DISTINCT payload ORDER BY payload)
            FILTER (NOT is_last AND payload IS NOT NULL) AS payloads_before,
        list(DISTINCT algorithm ORDER BY algorithm)
            FILTER (is_last AND payload IS NOT NULL) AS algorithms,
        list(DISTINCT algorithm ORDER BY algorithm)
            FILTER (NOT is_last AND payload IS NOT NULL) AS algorithms_before
    FROM side
    GROUP BY ALL
),
link AS (
    SELECT
        number, surt,
        count(*) FILTER (NOT was_there) AS added,
        count(*) FILTER (NOT is_there) AS removed
    FROM (
        SELECT number, surt, bool_or(is_last) AS is_there, bool_or(NOT is_last) AS was_there
        FROM side JOIN wanted_of_part USING (content)
        WHERE first IS NOT NULL AND is_to_outside(
            target_surt, host, domain, target_host, target_domain, part_first, part_last
        )
        GROUP BY number, surt, target, kind, text, rel
    )
    GROUP BY number, surt
)
SELECT
    number, name,
    CASE
        WHEN first IS NULL THEN 'not known before'
        ELSE concat_ws(
            ', ',
            CASE
                WHEN payloads <> payloads_before AND (
                    algorithms = algorithms_before
                    OR list_contains(algorithms || algorithms_before, 'redirect')
                )
                    THEN 'content'
            END,
            CASE WHEN added + removed > 0 THEN 'links' END,
            CASE WHEN nullif(status, 304) <> nullif(status_before, 304) THEN 'status' END,
            CASE WHEN title <> title_before THEN 'title' END
        )
    END AS state,
    added + removed AS changes, added, removed,
    status, status_before, title, title_before, first, last
FROM (
    SELECT
        compared.*,
        CASE WHEN first IS NOT NULL THEN coalesce(link.added, 0) END AS added,
        CASE WHEN first IS NOT NULL THEN coalesce(link.removed, 0) END AS removed
    FROM compared LEFT JOIN link USING (number, surt)
)
WHERE state <> ''
ORDER BY number, changes DESC NULLS LAST, name
