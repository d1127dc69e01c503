-- The parser of PostgreSQL needs time quadratic in the length of a run such as a_a_a_…: seconds for a message of 10,000
-- characters, during which no other message of the realm is committed. Other words contain no underscore. In the words for
-- processes of the previous release, which do, runs are cut.
CREATE OR REPLACE FUNCTION messaging.search_of(p_realm int, p_topic text, p_content text) RETURNS tsvector LANGUAGE plpgsql STABLE AS $$
DECLARE
  language text := coalesce((SELECT i.language FROM messaging.search_index i WHERE i.realm_id = p_realm), 'english');
  words text := p_topic || ' ' || p_content;
  result tsvector := messaging.search_vector(messaging.search_language(language), words);
BEGIN
  IF language <> 'english' OR NOT messaging.has_only_ascii(words)
    OR words ~ '[][+/\<>&@_=~^|%$#`{}-]|[A-Za-z0-9][.,:;!?''"()*]+[A-Za-z0-9]' THEN
    result := result || to_tsvector('english', regexp_replace(words, '(\S{250})\S+', '\1', 'g'));
  END IF;
  RETURN result;
END $$;
