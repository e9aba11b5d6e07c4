-- What questions that find words use, after asked.sql: texts that have all words of what is looked for.
SET VARIABLE phrases = phrases_of(getvariable('words'));

-- Most links share a text, which is split once. If it were not materialized, DuckDB would look for
-- phrases before it makes texts distinct, and split that of each link: of 2 million links, 8.8 CPU
-- seconds instead of 0.2.
CREATE OR REPLACE TEMP VIEW links_with_words AS
WITH said_text AS MATERIALIZED (
    SELECT text, between_blanks(text) AS blanked FROM (SELECT DISTINCT text FROM said_to_part)
)
FROM said_to_part SEMI JOIN (SELECT text FROM said_text WHERE has_phrases(blanked)) USING (text);
