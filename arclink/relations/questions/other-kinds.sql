-- The number of links to a part of the web, and of their occurrences, if none is of a kind that
-- counts.
SELECT count(*) AS number, coalesce(sum(occurrences), 0)::BIGINT AS occurrences
FROM links
WHERE is_in_part(target_surt, target_host, target_domain)
HAVING NOT coalesce(bool_or(list_contains(getvariable('kinds'), kind)), false)
