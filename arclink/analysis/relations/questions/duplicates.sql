-- Which payloads came again, and the bytes that one copy of each would save: a row for each month
-- (for each year, if the captures span two years or more), and one without period for all captures.
--
-- The payload of a capture (`payload_of`) is unknown also if a record has no checksum. Digests of two
-- algorithms say nothing about each other. A redirect is a payload of its own: status and target.
WITH captured AS (
    SELECT
        surt, uri, timestamp, file, record_offset,
        record_type = 'revisit' AS is_revisit,
        CASE
            WHEN record_type <> 'revisit' OR NOT list_contains(getvariable('empty'), checksum)
                THEN payload_of(checksum, content)
        END AS payload,  -- the revisit of an empty digest was not compared
        algorithm_of(payload) AS algorithm,
        -- the record of a WAT is no record of the capture
        CASE
            WHEN NOT list_bool_or(list_transform(
                getvariable('wat'), lambda suffix: ends_with(lower(file), suffix)
            ))
                THEN record_length
        END AS bytes,
        (SELECT date_diff('month', min(time), max(time)) < 24 FROM captures) AS is_short
    FROM captures
),
compared AS (
    SELECT
        *,
        left(timestamp, 4) || CASE WHEN is_short THEN '-' || substr(timestamp, 5, 2) ELSE '' END
            AS period,
        lag(timestamp) OVER earlier IS NULL AS is_first,
        CASE
            WHEN lag(algorithm) OVER earlier = algorithm
                OR 'redirect' IN (algorithm, lag(algorithm) OVER earlier)
                THEN lag(payload) OVER earlier = payload
        END AS is_same,  -- null: unknown
        payload IS NOT NULL AND NOT is_revisit AND row_number() OVER (
            PARTITION BY payload, is_revisit ORDER BY timestamp, surt, file, record_offset
        ) > 1 AS is_copy
    FROM captured
    WINDOW earlier AS (PARTITION BY surt, uri ORDER BY timestamp, payload)
)
SELECT
    period,
    count(*) AS captures,
    count(*) FILTER (is_first) AS first,
    count(*) FILTER (NOT is_first AND is_same) AS same,
    count(*) FILTER (NOT is_first AND NOT is_same) AS changed,
    count(*) FILTER (NOT is_first AND is_same IS NULL) AS unknown,
    count(DISTINCT payload) AS payloads,
    count(*) FILTER (payload IS NULL) AS unknown_payloads,
    count(*) FILTER (is_revisit) AS revisits,
    coalesce(sum(bytes), 0) AS bytes,
    coalesce(sum(bytes) FILTER (is_revisit), 0) AS revisit_bytes,
    coalesce(sum(bytes) FILTER (is_copy), 0) AS saved_bytes,
    count(*) FILTER (bytes IS NULL) AS unknown_bytes
FROM compared
GROUP BY GROUPING SETS ((period), ())
ORDER BY period NULLS LAST
