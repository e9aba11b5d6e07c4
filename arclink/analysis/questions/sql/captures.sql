SELECT
    number, period, count(*) AS captures,
    count(DISTINCT surt) AS pages,
    count(*) FILTER (shown_status BETWEEN 200 AND 299) AS success,
    count(*) FILTER (shown_status BETWEEN 300 AND 399) AS redirects,
    count(*) FILTER (shown_status >= 400) AS errors,
    count(*) FILTER (is_counted(content, status, leads_to_itself)) AS known,
    min(timestamp) AS first, max(timestamp) AS last
FROM asked_captures
GROUP BY ALL
ORDER BY ALL
