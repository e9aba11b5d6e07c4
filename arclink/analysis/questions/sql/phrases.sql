-- What questions that find words use, after asked.sql: texts that have all words of what is looked for.
SET VARIABLE phrases =
    list_transform(getvariable('words')::VARCHAR[], lambda term: phrase_of(term));

CREATE OR REPLACE TEMP MACRO has_phrases(blanked) AS
    blanked IS NOT NULL AND coalesce(list_bool_and(list_transform(
        getvariable('phrases'), lambda phrase: coalesce(contains(blanked, phrase), false)
    )), true);

-- Most links share a text, which is split once.
CREATE OR REPLACE TEMP VIEW links_with_words AS
FROM said_to_part SEMI JOIN (
    SELECT text
    FROM (SELECT text, between_blanks(text) AS blanked FROM said_to_part GROUP BY text)
    WHERE has_phrases(blanked)
) USING (text);
