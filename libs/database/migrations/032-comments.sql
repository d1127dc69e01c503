-- The parser of PostgreSQL looks for the end of a comment from each `<!--`, in time quadratic in their number. The text for
-- processes of the previous release is indexed without these signs.
CREATE OR REPLACE FUNCTION messaging.search_of(p_realm int, p_topic text, p_content text) RETURNS tsvector LANGUAGE plpgsql STABLE AS $$
DECLARE
  language text := coalesce((SELECT i.language FROM messaging.search_index i WHERE i.realm_id = p_realm), 'english');
  words text := p_topic || ' ' || p_content;
  result tsvector := messaging.search_vector(messaging.search_language(language), words);
BEGIN
  IF language <> 'english' OR NOT messaging.has_only_ascii(words)
    OR words ~ '[][+/\<>&@_=~^|%$#`{}-]|[A-Za-z0-9][.,:;!?''"()*]+[A-Za-z0-9]' THEN
    result := result || to_tsvector('english', regexp_replace(replace(words, '<!--', ' '), '(\S{250})\S+', '\1', 'g'));
  END IF;
  RETURN result;
END $$;
