-- What questions that find words use, after asked.sql: texts that have all words of what is looked for.
SET VARIABLE phrases =
    list_transform(getvariable('words')::VARCHAR[], lambda term: phrase_of(term));

CREATE OR REPLACE TEMP MACRO has_phrases(blanked) AS
    blanked IS NOT NULL AND coalesce(list_bool_and(list_transform(
        getvariable('phrases'), lambda phrase: coalesce(contains(blanked, phrase), false)
    )), true);

-- Most links share a text, which is split once. If it were not materialized, DuckDB would look for
-- phrases before it makes texts distinct, and split that of each link: of 2 million links, 8.8 CPU
-- seconds instead of 0.2.
CREATE OR REPLACE TEMP VIEW links_with_words AS
WITH said_text AS MATERIALIZED (
    SELECT text, between_blanks(text) AS blanked FROM (SELECT DISTINCT text FROM said_to_part)
)
FROM said_to_part SEMI JOIN (SELECT text FROM said_text WHERE has_phrases(blanked)) USING (text);
