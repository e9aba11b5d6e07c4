-- What questions about the text of pages use, after phrases.sql. `found_terms` says which contents have
-- each of the asked terms, and how often, by row (arclink/analysis/relations/found.py).

CREATE OR REPLACE TEMP VIEW known_texts AS
FROM numbered_texts WHERE is_cut IS NOT NULL;

-- A record with the text of a rendered page (`urn:text:`) is text of the page that it names.
CREATE OR REPLACE TEMP MACRO surt_of_page(surt) AS split_part(surt, '#urn:', 1);
CREATE OR REPLACE TEMP MACRO uri_of_page(uri) AS regexp_replace(uri, '^urn:text:', '');

-- The captures of the part whose text is known, also those in no window.
CREATE OR REPLACE TEMP VIEW text_of_part_ever AS
SELECT * REPLACE (surt_of_page(surt) AS surt, uri_of_page(uri) AS uri, known_texts.title AS title)
FROM said_of_part JOIN known_texts USING (content);

-- The same, once for each window.
CREATE OR REPLACE TEMP VIEW text_of_part AS
SELECT *, period_of(timestamp) AS period FROM text_of_part_ever;

-- Contents that have all terms; a term that is rare weighs more, and so does one that is often said.
CREATE OR REPLACE TEMP VIEW found_contents AS
WITH found AS MATERIALIZED (FROM found_terms)
SELECT text_part, text_row, round(sum(weight * 2.2 * times / (times + 1.2)), 9) AS score  -- in any order of terms
FROM found JOIN (
    SELECT term, ln(1 + (SELECT count(*) FROM texts) / count(*)) AS weight
    FROM found
    GROUP BY term
) USING (term)
GROUP BY text_part, text_row
HAVING count(*) = getvariable('number_of_terms');

-- The line of a text that has most of the terms; of a long one, up to 240 letters.
CREATE OR REPLACE TEMP MACRO snippet_of(text) AS list_reduce(
    list_transform(
        regexp_extract_all(text, '[^\n]{1,240}(?:\s|$)'),
        lambda line: {
            'line': trim(line, ' ' || chr(9) || chr(10) || chr(13)),
            'terms': len(list_filter(
                getvariable('phrases'), lambda phrase: contains(between_blanks(line), phrase)
            ))
        }
    ),
    lambda best, one: CASE WHEN one.terms > best.terms THEN one ELSE best END,
    {'line': '', 'terms': -1}
).line;
