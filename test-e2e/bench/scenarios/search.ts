import { type SearchKey, searches, searchTexts } from '../../search-cases.ts';
import { history } from '../data/history.ts';
import { figure, type Scenario } from '../harness/scenario.ts';
import { apiRequest } from '../load/request.ts';

const texts = Object.keys(searchTexts) as SearchKey[];
const page = 100;

export const search: Scenario = {
  name: 'search',
  title: `${searches.length} searches in messages of many languages`,
  async run(bench) {
    const { realm } = await history(bench, 'languages', textOf);
    const forms = searches.map(([operand]) => ({
      anchor: 'newest',
      num_before: page,
      num_after: 0,
      narrow: [{ operator: 'search', operand }],
    }));
    const wrong: string[] = [];
    for (const [at, [operand, expected]] of searches.entries()) {
      const { messages } = await bench.api.call(realm.host, realm.people[0], 'GET /messages', forms[at] ?? {});
      if (messages.length !== (expected.length === 0 ? 0 : page)) wrong.push(`${operand}: ${messages.length}`);
    }
    const requests = forms.map((form, at) => apiRequest(realm.host, realm.people[at % 50], 'GET /messages', form));
    const count = requests.length * bench.sizes.repeats;
    const measured = await bench.measure({ name: 'searches', unit: 'page', requests, inFlight: 1, count });
    const [size] = await bench.sql<{ indexed: string; vectors: string }>(
      `SELECT pg_size_pretty(sum(pg_relation_size(i.indexrelid))) AS indexed,
        (SELECT pg_size_pretty(sum(pg_column_size(search))) FROM messaging.message WHERE realm_id = $1) AS vectors
      FROM pg_index i WHERE i.indrelid = 'messaging.message'::regclass AND pg_get_indexdef(i.indexrelid) LIKE '%gin%'`,
      [realm.id],
    );
    return {
      measurements: [measured],
      figures: [
        figure('search_p99_ms', measured.latency.p99, 'ms'),
        figure('wrong', wrong.length, 'searches', 'lower'),
      ],
      notes: [
        `${bench.sizes.messages.toLocaleString('en')} messages, each with one of ${texts.length} texts in twelve languages; every word is in 1 or 2 of the texts.`,
        `The index of words has ${size?.indexed} (with messages of other scenarios), the vectors of this history ${size?.vectors}.`,
        ...(wrong.length === 0 ? [] : [`Wrong numbers of messages: ${wrong.join(', ')}.`]),
      ],
    };
  },
};

/** The text of a message. It ends with a number of five digits that makes it unique and that no search contains. */
const textOf = (index: number): string => `${searchTexts[texts[index % texts.length] ?? 'en1']} ${10_000 + index}`;
