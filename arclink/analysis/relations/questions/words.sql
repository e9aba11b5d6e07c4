-- What a word is, wherever words are found or counted.

-- Small letters, in which ligatures, full and half width, small digits and forms of one letter that
-- keyboards lack are the letters that people type: ﬁ is fi, ß is ss, ø is o, ς is σ. What is seen
-- in no word is left out: soft hyphens, joiners, marks of direction, and lengthened lines (ـ). A letter
-- has up to 16 marks: to compose more takes time that grows with the second power of their number.
CREATE OR REPLACE TEMP MACRO typed_letters(text) AS nfc_normalize(regexp_replace(
    replace(replace(replace(replace(replace(replace(replace(replace(replace(translate(
        lower(text),
        '０１２３４５６７８９ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚｦｧｨｩｪｫｬｭｮｯｰｱｲｳｴｵｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾅﾆﾇﾈﾉﾊﾋﾌﾍﾎﾏﾐﾑﾒﾓﾔﾕﾖﾗﾘﾙﾚﾛﾜﾝﾞﾟ'
        || '⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉ςıøǿłđǽǣʼʻ' || chr(0)
        || 'ـ' || chr(173) || chr(8204) || chr(8205) || chr(8206) || chr(8207) || chr(8288) || chr(65279),
        '0123456789abcdefghijklmnopqrstuvwxyzヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン'
        || chr(12441) || chr(12442)
        || '01234567890123456789σiooldææ'''' '
    ), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'ﬀ', 'ff'), 'ﬁ', 'fi'), 'ﬂ', 'fl'), 'ﬃ', 'ffi'), 'ﬄ', 'ffl'), 'ﬆ', 'st'),
    '(\p{M}{16})\p{M}+', '\1', 'g'
));

-- Letters, digits and their marks in runs; letters of scripts without blanks between words, and of
-- Korean, whose words have endings, each by itself.
CREATE OR REPLACE TEMP MACRO run_of_letters() AS replace(
    '(?:[^\P{L}@]|\p{N})(?:[^\P{L}@]|[\p{N}\p{M}])*|\p{L}[\p{M}]*',
    '@', '\p{Han}\p{Hiragana}\p{Katakana}ー\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}'
);
CREATE OR REPLACE TEMP MACRO runs_of_letters(text) AS regexp_extract_all(text, run_of_letters());

-- The words of a text in their order, with repetitions. Accents make no difference, nor do the
-- vowels of Arabic and Hebrew, which most texts lack; marks of other scripts are letters, as the
-- vowels of Hindi. Signs part words: don't is don and t, node.js is node and js, 3.14 is 3 and 14.
CREATE OR REPLACE TEMP MACRO words_of(text) AS CASE
    WHEN strlen(text) = length(text) THEN regexp_extract_all(lower(text), '[a-z0-9]+')  -- ASCII
    ELSE list_transform(
        runs_of_letters(typed_letters(text)),
        lambda run: CASE
            WHEN regexp_matches(
                run, '[^\P{L}\p{Latin}\p{Greek}\p{Cyrillic}\p{Arabic}\p{Hebrew}\p{Syriac}]'
            ) THEN run
            ELSE strip_accents(run)
        END
    )
END;

-- A text in pieces with the words of each: what is not seen in a word belongs to it (typed_letters).
CREATE OR REPLACE TEMP MACRO pieces_of(text) AS list_transform(
    regexp_extract_all(
        text,
        replace(run_of_letters(), '\p{M}', '\p{M}\x{AD}\x{200C}-\x{200F}\x{2060}\x{FEFF}ﾞﾟ')
            || '|[\s\S]'
    ),
    lambda piece: {'text': piece, 'words': words_of(piece)}
);

-- A text as its words, each between blanks: what phrase_of returns is a part of it if the text has
-- that word or phrase.
CREATE OR REPLACE TEMP MACRO between_blanks(text) AS
    ' ' || array_to_string(words_of(text), ' ') || ' ';

-- A word or phrase to find (arclink/access/words.py); null without any word. After an asterisk at the
-- end, the last word may go on.
CREATE OR REPLACE TEMP MACRO phrase_of(term) AS
    nullif(rtrim(between_blanks(term)), '') || CASE WHEN ends_with(term, '*') THEN '' ELSE ' ' END;

-- The terms as rows: DuckDB would take 15 ms to fold constants.
CREATE OR REPLACE TEMP MACRO phrases_of(terms) AS (
    SELECT coalesce(list(phrase_of(term)), []) FROM (SELECT unnest(terms::VARCHAR[]) AS term)
);

-- Whether a text, as between_blanks returns it, has all words and phrases in the variable `phrases`. A
-- term without any word is in no text.
CREATE OR REPLACE TEMP MACRO has_phrases(blanked) AS
    blanked IS NOT NULL AND coalesce(list_bool_and(list_transform(
        getvariable('phrases'), lambda phrase: coalesce(contains(blanked, phrase), false)
    )), true);
