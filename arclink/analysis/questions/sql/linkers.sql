CREATE OR REPLACE TEMP TABLE answer (
    number INTEGER, period VARCHAR, name VARCHAR, links BIGINT, pages BIGINT, mementos BIGINT,
    first VARCHAR, last VARCHAR, linker UBIGINT
);

INSERT INTO answer
SELECT
    number, period, min(name),
    count(DISTINCT link),
    count(DISTINCT surt),
    count(DISTINCT memento),
    time_of(min(timestamp)), time_of(max(timestamp)), linker
FROM (
    SELECT
        number, period, linker, linker_name AS name, hash(page, target_surt, kind, text, rel) AS link,
        surt, hash(page, timestamp) AS memento, timestamp
    FROM counted_inlinks
)
GROUP BY number, period, linker;

SELECT * EXCLUDE (linker) FROM answer ORDER BY number, period, links DESC, name
