-- An insert that fills the list of pending words merges it into the index, under the clock of its realm. With 4 MB, the
-- default, this took a second.
ALTER INDEX messaging.message_search SET (gin_pending_list_limit = 256);

-- The search vector of a text. It contains the words without accents. Without positions, it also contains the words with
-- accents, because their stems may differ, and the parts of names such as userName and E1234. It contains only the first
-- 4,000 pairs of characters, because nearly all pairs of random characters differ.
CREATE OR REPLACE FUNCTION messaging.search_vector(p_language regconfig, p_text text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  words text := messaging.search_pairs(messaging.search_words(p_text));
  folded text := messaging.search_folded(words);
  result tsvector := to_tsvector(p_language, folded);
BEGIN
  IF length(result) > 4000 THEN
    result := ts_delete(result, ARRAY(SELECT lexeme FROM unnest(result)
      WHERE lexeme ~ '^[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u302f\u3031-\u303c\u3041-\u30fa\u30fc-\u318f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff]{1,2}$' ORDER BY positions[1] OFFSET 4000));
  END IF;
  IF folded <> words THEN
    result := result || messaging.search_folded(strip(to_tsvector(p_language,
      (SELECT string_agg(m[1], ' ') FROM regexp_matches(words, '[^ ]*[\u00df-\u00f6\u00f8-\u024f\u0300-\u036f\u0390\u03ac-\u03b0\u03c2\u03ca-\u03ce\u0451\u0622\u0623\u0625\u0649\u0671\u1e00-\u1fff][^ ]*', 'g') m)))::text)::tsvector;
  END IF;
  IF p_text ~ '[a-z][A-Z]|[A-Za-z][0-9]|[0-9][A-Za-z]' THEN
    result := result || strip(to_tsvector(p_language, messaging.search_folded(messaging.search_words(
      regexp_replace(p_text, '([a-z](?=[A-Z])|[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z]))', '\1 ', 'g')))));
  END IF;
  RETURN result;
END $$;
