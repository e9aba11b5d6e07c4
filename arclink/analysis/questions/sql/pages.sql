SELECT
    number, period, name_of_page(uri, leads_to_itself) AS name,
    newest(timestamp, nullif(title, '')) AS title,
    count(*) AS captures,
    newest(timestamp, CASE WHEN NOT leads_to_itself THEN shown_status END)::SMALLINT AS status,
    newest(timestamp, CASE WHEN NOT leads_to_itself THEN shown_mime END) AS mime,
    min(timestamp) AS first, max(timestamp) AS last
FROM asked_captures
GROUP BY number, period, surt
ORDER BY number, period, captures DESC, name
