-- Search in texts of any language: see docs/adr/0026-search.md.

-- The language of a realm's messages; English without a row.
CREATE TABLE messaging.search_index (
  realm_id int PRIMARY KEY,
  -- A text search configuration of pg_catalog. Not regconfig, which pg_upgrade refuses.
  language text NOT NULL,
  -- Messages with smaller ids are still to be indexed again; NULL: none.
  below bigint,
  -- Other languages by which those may be indexed.
  former text[] NOT NULL DEFAULT '{}',
  -- Those may be indexed by the expression of earlier releases.
  has_earlier boolean NOT NULL DEFAULT false,
  -- Transactions that began before this one ended may still index by the former language.
  changed_in xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX search_index_unfinished ON messaging.search_index (realm_id) WHERE below IS NOT NULL;

-- A language that words can be searched in; an error for any other.
CREATE FUNCTION messaging.search_language(p_name text) RETURNS regconfig LANGUAGE sql STABLE STRICT PARALLEL SAFE
AS $$ SELECT ('pg_catalog.' || quote_ident(p_name))::regconfig $$;

CREATE FUNCTION messaging.has_only_ascii(p_text text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT octet_length(p_text) = length(p_text) $$;

-- Words in lower case and in one Unicode form, separated by spaces instead of punctuation and symbols. Vowel points of
-- Arabic and Hebrew are omitted.
CREATE FUNCTION messaging.search_words(p_text text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  signs CONSTANT text := '!-/:-@[-`{-~';
  -- Characters with a combining class other than 0.
  marks CONSTANT text := '\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7-\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u07eb-\u07f3\u07fd\u0816-\u0819\u081b-\u0823\u0825-\u0827\u0829-\u082d\u0859-\u085b\u0898-\u089f\u08ca-\u08e1\u08e3-\u08ff\u093c\u094d\u0951-\u0954\u09bc\u09cd\u09fe\u0a3c-\u0a4d\u0abc\u0acd\u0b3c\u0b4d\u0bcd\u0c3c\u0c4d-\u0c56\u0cbc\u0ccd\u0d3b-\u0d3c\u0d4d\u0dca\u0e38-\u0e3a\u0e48-\u0e4b\u0eb8-\u0eba\u0ec8-\u0ecb\u0f18-\u0f19\u0f35\u0f37\u0f39\u0f71-\u0f84\u0f86-\u0f87\u0fc6\u1037-\u103a\u108d\u135d-\u135f\u1714-\u1715\u1734\u17d2\u17dd\u18a9\u1939-\u193b\u1a17-\u1a18\u1a60-\u1a7f\u1ab0-\u1ace\u1b34-\u1b44\u1b6b-\u1b73\u1baa-\u1bab\u1be6-\u1bf3\u1c37\u1cd0-\u1cd2\u1cd4-\u1ce8\u1ced\u1cf4\u1cf8-\u1cf9\u1dc0-\u1dff\u20d0-\u20f0\u2cef-\u2cf1\u2d7f\u2de0-\u2dff\u302a-\u302f\u3099-\u309a\ua66f\ua674-\ua67d\ua69e-\ua69f\ua6f0-\ua6f1\ua806\ua82c\ua8c4\ua8e0-\ua8f1\ua92b-\ua92d\ua953\ua9b3-\ua9c0\uaab0\uaab2-\uaab4\uaab7-\uaab8\uaabe-\uaabf\uaac1\uaaf6\uabed\ufb1e\ufe20-\ufe2f\U000101fd\U000102e0\U00010376-\U0001037a\U00010a0d-\U00010a0f\U00010a38-\U00010a3f\U00010ae5-\U00010ae6\U00010d24-\U00010d27\U00010eab-\U00010eac\U00010f46-\U00010f50\U00010f82-\U00010f85\U00011046\U00011070\U0001107f\U000110b9-\U000110ba\U00011100-\U00011102\U00011133-\U00011134\U00011173\U000111c0\U000111ca\U00011235-\U00011236\U000112e9-\U000112ea\U0001133b-\U0001133c\U0001134d\U00011366-\U00011374\U00011442-\U00011446\U0001145e\U000114c2-\U000114c3\U000115bf-\U000115c0\U0001163f\U000116b6-\U000116b7\U0001172b\U00011839-\U0001183a\U0001193d-\U0001193e\U00011943\U000119e0\U00011a34\U00011a47\U00011a99\U00011c3f\U00011d42-\U00011d45\U00011d97\U00016af0-\U00016af4\U00016b30-\U00016b36\U00016ff0-\U00016ff1\U0001bc9e\U0001d165-\U0001d169\U0001d16d-\U0001d172\U0001d17b-\U0001d182\U0001d185-\U0001d18b\U0001d1aa-\U0001d1ad\U0001d242-\U0001d244\U0001e000-\U0001e02a\U0001e130-\U0001e136\U0001e2ae\U0001e2ec-\U0001e2ef\U0001e8d0-\U0001e8d6\U0001e944-\U0001e94a';
  text_of text;
BEGIN
  IF messaging.has_only_ascii(p_text) THEN
    RETURN lower(regexp_replace(p_text, '['||signs||']', ' ', 'g'));
  END IF;
  -- Long runs of marks would make normalizing slow.
  text_of := regexp_replace(p_text, '(['||marks||']{6})['||marks||']+', '\1', 'g');
  text_of := left(normalize(text_of, NFKC), 40000);
  text_of := CASE WHEN lower(U&'\0414') = U&'\0434' THEN lower(text_of)
    -- A database whose locale has no lower case beyond ASCII.
    ELSE lower(translate(text_of, 'ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞĀĂĄĆĈĊČĎĐĒĔĖĘĚĜĞĠĢĤĦĨĪĬĮĲĴĶĹĻĽĿŁŃŅŇŊŌŎŐŒŔŖŘŚŜŞŠŢŤŦŨŪŬŮŰŲŴŶŸŹŻŽΆΈΉΊΌΎΏΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩΪΫЀЁЂЃЄЅІЇЈЉЊЋЌЍЎЏАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯѠѢѤѦѨѪѬѮѰѲѴѶѸѺѼѾҀҊҌҎҐҒҔҖҘҚҜҞҠҢҤҦҨҪҬҮҰҲҴҶҸҺҼҾӀӁӃӅӇӉӋӍӐӒӔӖӘӚӜӞӠӢӤӦӨӪӬӮӰӲӴӶӸӺӼӾԀԂԄԆԈԊԌԎԐԒԔԖԘԚԜԞԠԢԤԦԨԪԬԮԱԲԳԴԵԶԷԸԹԺԻԼԽԾԿՀՁՂՃՄՅՆՇՈՉՊՋՌՍՎՏՐՑՒՓՔՕՖ',
      'àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþāăąćĉċčďđēĕėęěĝğġģĥħĩīĭįĳĵķĺļľŀłńņňŋōŏőœŕŗřśŝşšţťŧũūŭůűųŵŷÿźżžάέήίόύώαβγδεζηθικλμνξοπρστυφχψωϊϋѐёђѓєѕіїјљњћќѝўџабвгдежзийклмнопрстуфхцчшщъыьэюяѡѣѥѧѩѫѭѯѱѳѵѷѹѻѽѿҁҋҍҏґғҕҗҙқҝҟҡңҥҧҩҫҭүұҳҵҷҹһҽҿӏӂӄӆӈӊӌӎӑӓӕӗәӛӝӟӡӣӥӧөӫӭӯӱӳӵӷӹӻӽӿԁԃԅԇԉԋԍԏԑԓԕԗԙԛԝԟԡԣԥԧԩԫԭԯաբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆ')) END;
  IF text_of ~ '[\u0591-\u06ff]' THEN
    text_of := regexp_replace(text_of, '[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u0610-\u061a\u0640\u064b-\u065f\u0670]+', '', 'g');
  END IF;
  RETURN regexp_replace(text_of,
    '['||signs||'\u0080-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u02c2-\u02df\u05be\u060c\u061b\u061f\u066a-\u066d\u06d4\u0964\u0965\u2000-\u2bff\u2e00-\u2e7f\u3000-\u3004\u3008-\u3020\u3030\u303d\u30fb\ue000-\uf8ff\ufe00-\ufe0f\uff5f-\uff65\ufff0-\uffff\U0001f000-\U0001faff\U000e0000-\U000e0fff]+',
    ' ', 'g');
END $$;

-- Without the accents of Latin and Greek letters.
CREATE FUNCTION messaging.search_folded(p_words text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  text_of text;
BEGIN
  IF messaging.has_only_ascii(p_words) OR p_words !~ '[\u00df-\u00f6\u00f8-\u024f\u0300-\u036f\u0390\u03ac-\u03b0\u03c2\u03ca-\u03ce\u0451\u0622\u0623\u0625\u0649\u0671\u1e00-\u1fff]' THEN RETURN p_words; END IF;
  text_of := regexp_replace(normalize(p_words, NFD), '([a-z\u0131\u0370-\u03ff])[\u0300-\u036f]+', '\1', 'g');
  IF messaging.has_only_ascii(text_of) THEN RETURN text_of; END IF;
  text_of := translate(normalize(text_of, NFC),
    U&'\00f8\0111\0142\0127\0131\0167\0451\03c2\0623\0625\0622\0671\0649', U&'odlhit\0435\03c3\0627\0627\0627\0627\064a');
  IF text_of ~ '[\u00df\u00e6\u0153\u00fe\u00f0]' THEN
    text_of := replace(replace(replace(replace(replace(text_of,
      U&'\00df', 'ss'), U&'\00e6', 'ae'), U&'\0153', 'oe'), U&'\00fe', 'th'), U&'\00f0', 'd');
  END IF;
  RETURN text_of;
END $$;

-- Texts of scripts without spaces between words become pairs of neighbouring characters: abc as `a ab bc c`. The pairs
-- are searched as a phrase, and a single character as a prefix. Korean is included because its particles are attached.
CREATE FUNCTION messaging.search_pairs(p_words text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF messaging.has_only_ascii(p_words) OR p_words !~ '[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u302f\u3031-\u303c\u3041-\u30fa\u30fc-\u318f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff]' THEN RETURN p_words; END IF;
  RETURN regexp_replace(regexp_replace(p_words, '([\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u302f\u3031-\u303c\u3041-\u30fa\u30fc-\u318f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff]+)', ' \1 ', 'g'), '([\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u302f\u3031-\u303c\u3041-\u30fa\u30fc-\u318f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff])', '\1 \1', 'g');
END $$;

-- What a text is found by: its words without accents, and without positions the words with accents, whose stems may be
-- others, and the parts of names such as userName and E1234.
CREATE FUNCTION messaging.search_vector(p_language regconfig, p_text text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  words text := messaging.search_pairs(messaging.search_words(p_text));
  folded text := messaging.search_folded(words);
  result tsvector := to_tsvector(p_language, folded);
BEGIN
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

-- All parts of one searched word or phrase, in one language.
CREATE FUNCTION messaging.search_term(p_language regconfig, p_text text) RETURNS tsquery
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  part text;
  folded text;
  found tsquery;
  result tsquery;
BEGIN
  FOR part IN SELECT m[1] FROM regexp_matches(messaging.search_words(p_text), '[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u302f\u3031-\u303c\u3041-\u30fa\u30fc-\u318f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff]+|[^\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u302f\u3031-\u303c\u3041-\u30fa\u30fc-\u318f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff]+', 'g') m LOOP
    IF part ~ '[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u302f\u3031-\u303c\u3041-\u30fa\u30fc-\u318f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff]' THEN
      found := CASE WHEN length(part) = 1 THEN to_tsquery('simple', part || ':*')
        ELSE phraseto_tsquery('simple', (SELECT string_agg(substr(part, n, 2), ' ' ORDER BY n) FROM generate_series(1, length(part) - 1) n)) END;
    ELSE
      folded := messaging.search_folded(part);
      found := phraseto_tsquery(p_language, folded);
      -- Words with accents have no positions, so they are not searched as a phrase.
      IF folded <> part AND btrim(part) !~ '\s' THEN
        found := found || messaging.search_folded(phraseto_tsquery(p_language, part)::text)::tsquery;
      END IF;
    END IF;
    result := coalesce(result && found, found);
  END LOOP;
  RETURN result;
END $$;

-- Messages of a realm that contain all of `p_terms`, whichever way they are indexed. `p_earlier` is the search as earlier
-- releases wrote it for websearch_to_tsquery.
CREATE FUNCTION messaging.search_query(p_realm int, p_terms text[], p_earlier text) RETURNS tsquery
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
DECLARE
  state messaging.search_index;
  language text;
  term text;
  of_term tsquery;
  of_language tsquery;
  result tsquery;
BEGIN
  SELECT * INTO state FROM messaging.search_index i WHERE i.realm_id = p_realm;
  FOREACH language IN ARRAY coalesce(state.language, 'english') || coalesce(state.former, '{}') LOOP
    of_language := NULL;
    FOREACH term IN ARRAY p_terms LOOP
      of_term := messaging.search_term(messaging.search_language(language), term);
      of_language := coalesce(of_language && of_term, of_term, of_language);
    END LOOP;
    result := coalesce(result || of_language, of_language, result);
  END LOOP;
  IF state.has_earlier THEN
    RETURN coalesce(result || websearch_to_tsquery('english', p_earlier), websearch_to_tsquery('english', p_earlier));
  END IF;
  RETURN result;
END $$;

-- The words, written without spaces or punctuation, by which a query finds a text.
CREATE FUNCTION messaging.search_matches(p_realm int, p_query tsquery, p_words text[]) RETURNS SETOF text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
DECLARE
  any_of tsquery := regexp_replace(p_query::text, ' (&|<->|<[0-9]+>) ', ' | ', 'g')::tsquery;
  languages regconfig[];
BEGIN
  SELECT array_agg(DISTINCT messaging.search_language(l)) INTO languages
  FROM (SELECT 1) one LEFT JOIN messaging.search_index i ON i.realm_id = p_realm,
    unnest(coalesce(i.language, 'english') || coalesce(i.former, '{}') || CASE WHEN i.has_earlier THEN '{english}'::text[] ELSE '{}' END) l;
  RETURN QUERY SELECT w FROM unnest(p_words) w WHERE EXISTS (
    SELECT FROM unnest(languages) l WHERE CASE WHEN messaging.has_only_ascii(w) THEN to_tsvector(l, w) @@ any_of
      ELSE messaging.search_vector(l, w) @@ any_of END);
END $$;

-- The column becomes an ordinary one without a rewrite, with the same content and index.
ALTER TABLE messaging.message ALTER COLUMN search DROP EXPRESSION;

-- What a message is found by. Processes of the previous release find by the words of the former expression: until the
-- next release they are included where they may differ, which is never in English texts of plain words.
CREATE FUNCTION messaging.search_of(p_realm int, p_topic text, p_content text) RETURNS tsvector LANGUAGE plpgsql STABLE AS $$
DECLARE
  language text := coalesce((SELECT i.language FROM messaging.search_index i WHERE i.realm_id = p_realm), 'english');
  words text := p_topic || ' ' || p_content;
  result tsvector := messaging.search_vector(messaging.search_language(language), words);
BEGIN
  IF language <> 'english' OR NOT messaging.has_only_ascii(words)
    OR words ~ '[][+/\<>&@_=~^|%$#`{}-]|[A-Za-z0-9][.,:;!?''"()*]+[A-Za-z0-9]' THEN
    result := result || to_tsvector('english', words);
  END IF;
  RETURN result;
END $$;
CREATE FUNCTION messaging.index_message() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.search := messaging.search_of(NEW.realm_id, NEW.topic, NEW.content);
  RETURN NEW;
END $$;
CREATE TRIGGER index_message BEFORE INSERT OR UPDATE OF topic, content ON messaging.message
FOR EACH ROW EXECUTE FUNCTION messaging.index_message();

-- Sets the language of a realm. Its messages are indexed again by the scheduler, and found by both languages until then.
CREATE FUNCTION messaging.set_search_language(p_realm int, p_language text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM messaging.search_language(p_language);
  INSERT INTO messaging.search_index AS i (realm_id, language, below, former)
  SELECT p_realm, p_language, 9223372036854775807, '{english}'
  WHERE p_language <> 'english' OR EXISTS (SELECT FROM messaging.search_index WHERE realm_id = p_realm)
  ON CONFLICT (realm_id) DO UPDATE SET language = excluded.language, below = excluded.below, changed_in = pg_current_xact_id(),
    former = ARRAY(SELECT DISTINCT l FROM unnest(i.former || i.language) l WHERE l <> excluded.language)
  WHERE i.language <> excluded.language;
END $$;

-- Indexes the next messages again, the newest first: their number, 0 if those of a realm are complete, and NULL if there
-- is nothing to do. Fails instead of waiting for a lock, so that it is never a part of a deadlock.
CREATE FUNCTION messaging.index_next(p_limit int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  state messaging.search_index;
  ids bigint[];
BEGIN
  SELECT * INTO state FROM messaging.search_index i WHERE i.below IS NOT NULL
    AND (i.changed_in < pg_snapshot_xmin(pg_current_snapshot())
      -- After a restore into a new server its numbers of transactions are others.
      OR i.changed_in >= pg_snapshot_xmax(pg_current_snapshot()))
  ORDER BY i.below LIMIT 1 FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN NULL; END IF;
  ids := ARRAY(SELECT m.id FROM messaging.message m WHERE m.realm_id = state.realm_id AND m.id < state.below
    ORDER BY m.id DESC LIMIT p_limit FOR NO KEY UPDATE NOWAIT);
  UPDATE messaging.message m SET search = messaging.search_of(m.realm_id, m.topic, m.content)
  WHERE m.realm_id = state.realm_id AND m.id = ANY(ids);
  UPDATE messaging.search_index i SET below = (SELECT min(id) FROM unnest(ids) id),
    former = CASE WHEN ids = '{}' THEN '{}' ELSE i.former END, has_earlier = i.has_earlier AND ids <> '{}'
  WHERE i.realm_id = state.realm_id;
  RETURN cardinality(ids);
END $$;

-- The messages until now are indexed again by the scheduler, the newest first.
INSERT INTO messaging.search_index (realm_id, language, below, has_earlier)
WITH RECURSIVE realm (realm_id) AS (
  (SELECT realm_id FROM messaging.message ORDER BY realm_id LIMIT 1)
  UNION ALL
  SELECT (SELECT m.realm_id FROM messaging.message m WHERE m.realm_id > r.realm_id ORDER BY m.realm_id LIMIT 1)
  FROM realm r WHERE r.realm_id IS NOT NULL
)
SELECT realm_id, 'english', 9223372036854775807, true FROM realm WHERE realm_id IS NOT NULL;
