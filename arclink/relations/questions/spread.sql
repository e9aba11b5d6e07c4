-- The first link of each page to a part of the web, and its last capture before that is known not
-- to have one.
WITH first_link AS (
    SELECT
        coalesce(written, uri) AS page, coalesce(host, '') AS host,
        min({'time': timestamp, 'target': target, 'kind': kind, 'text': text}) AS link
    FROM wanted JOIN captures USING (content)
    WHERE is_in_part(target_surt, target_host, target_domain)
        AND leads_out(host, domain, target_host, target_domain)
    GROUP BY ALL
)
SELECT
    link.time AS first_with, page, max(captures.timestamp) AS last_without,
    link.target AS target, link.text AS text, first_link.host AS host
FROM first_link LEFT JOIN captures
    ON coalesce(written, uri) = page AND method IS NULL AND timestamp < link.time
    AND is_known(content, status)
GROUP BY ALL
ORDER BY first_with, page
