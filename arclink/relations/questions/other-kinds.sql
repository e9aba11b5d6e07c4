-- The number of links, each as often as a content has it, if none is of a kind that counts.
SELECT coalesce(sum(occurrences), 0)::BIGINT AS occurrences
FROM links
HAVING NOT coalesce(bool_or(list_contains(getvariable('kinds'), kind)), false)
