import { useNavigate, useSearch } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import type { Listed } from '../state/listed.ts';
import { keyOf, type Term } from '../state/place.ts';
import { labelOf, termsOfText, textOf } from '../state/query.ts';
import { type NameProblem, resolveNames } from '../state/query-names.ts';
import { channelOfTopic, type SearchSuggestion, suggestionsFor } from '../state/search-suggestions.ts';
import { t } from '../text/text.ts';
import { isOfInputMethod } from './composing.ts';
import { Conversation } from './conversation.tsx';
import { usePageTitle } from './page-title.ts';
import { useDirectory, useSelected, useSession } from './session-context.tsx';
import { useTopics } from './use-suggestions.ts';

export function SearchPage() {
  const { q = '' } = useSearch({ strict: false });
  const { terms, problem, isOpen } = useResolved(q);
  usePageTitle(t('search'));
  const box = <SearchBox key={q} terms={terms} found={problem} />;
  return terms.length === 0 || problem || isOpen ? (
    <main className="conversation">
      <h1>{t('search')}</h1>
      {box}
      {terms.length === 0 && <p className="empty">{t('searchForWordsOrChooseWhatThe')}</p>}
    </main>
  ) : (
    <Conversation narrow={{ kind: 'search', terms }} empty={t('noMessageWasFound')}>
      {box}
      <News terms={terms} />
    </Conversation>
  );
}

/** The terms of a search text, with numbers for names. Names of channels may have to wait for the list of all channels. */
function useResolved(q: string): ReturnType<typeof resolveNames> {
  const { channelList } = useSession();
  const directory = useDirectory();
  const [isSettled, setSettled] = useState(false);
  useEffect(() => {
    const settle = (): void => setSettled(true);
    channelList.need().then(settle, settle);
  }, [channelList]);
  // If the list of channels could not be loaded, only known channels are used.
  const listed = directory.listed ?? (isSettled ? noChannels : undefined);
  return resolveNames(termsOfText(q), { ...directory, listed });
}

const noChannels: Listed = new Map();

const problemText = ({ of, fits, name }: NameProblem): string => {
  if (of === 'person') return t(fits === 'none' ? 'nobodyHasTheName' : 'severalPeopleHaveTheName', { name });
  return t(fits === 'none' ? 'noChannelHasTheName' : 'severalChannelsHaveTheName', { name });
};

/** Notifies screen readers of further results that have arrived. */
function News({ terms }: { terms: readonly Term[] }) {
  const news = useSelected(({ views }) => views.get(keyOf({ kind: 'search', terms }))?.news ?? 0);
  const text = t('newResults', { count: news });
  return (
    <p className="news" role="status">
      {news > 0 && text}
    </p>
  );
}

/** The suggestions for the end of the text, beside the chips. */
function useSearchSuggestions(text: string, chips: readonly Term[]): SearchSuggestion[] {
  const session = useSession();
  const model = useSelected((state) => state.model);
  const channelId = channelOfTopic(text, chips, model);
  const ofChannel = useTopics(channelId);
  const topics = (): readonly string[] => {
    if (channelId !== undefined) return ofChannel;
    const loaded = [...session.state.messages.values()];
    return [...new Set(loaded.flatMap((one) => (one.type === 'stream' ? one.subject : [])))];
  };
  return suggestionsFor(text, model, topics);
}

interface ChipsProps {
  chips: readonly Term[];
  /** Called with the remaining terms. */
  onRemove: (left: readonly Term[]) => void;
}

function Chips({ chips, onRemove }: ChipsProps) {
  const model = useSelected((state) => state.model);
  return chips.map((term, index) => (
    <span key={textOf([term])} className="chip">
      {labelOf(term, model)}
      <button type="button" onClick={() => onRemove(chips.toSpliced(index, 1))}>
        <span aria-hidden="true">×</span>
        <span className="hidden">{t('removeTerm', { term: labelOf(term, model) })}</span>
      </button>
    </span>
  ));
}

/** The conditions as chips, and the words as text. `found`: the problem with a name of the conditions. */
function SearchBox({ terms, found }: { terms: readonly Term[]; found: NameProblem | undefined }) {
  const navigate = useNavigate();
  const model = useSelected((state) => state.model);
  const chips = terms.filter(({ operator }) => operator !== 'search');
  const words = terms.find(({ operator }) => operator === 'search');
  const [text, setText] = useState(words ? String(words.operand) : '');
  const [chosen, setChosen] = useState(-1);
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLInputElement>(null);
  const id = useId();
  useEffect(() => {
    box.current?.focus();
    box.current?.setSelectionRange(text.length, text.length);
  }, []);
  const fitting = useSearchSuggestions(text, chips);
  const suggestions = isOpen ? fitting : [];
  const [refused, setRefused] = useState<NameProblem>();
  const problem = refused ?? found;
  const go = (next: readonly Term[]): void => void navigate({ to: '/search', search: { q: textOf(next) } });
  const take = ({ from, result }: SearchSuggestion): void => {
    const rest = text.slice(0, from);
    setChosen(-1);
    if ('text' in result) setText(rest + result.text);
    else go([...chips, result.term, ...termsOfText(rest)]);
    box.current?.focus();
  };
  const submit = (): void => {
    const whole = fitting.filter(({ isWhole }) => isWhole);
    const next = resolveNames([...chips, ...termsOfText(text)], model);
    if (whole[0] && whole.length === 1) take(whole[0]);
    else if (next.problem) setRefused(next.problem);
    else go(next.terms);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (isOfInputMethod(event.nativeEvent)) return;
    const suggestion = suggestions[chosen];
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      setOpen(true);
      const step = event.key === 'ArrowDown' ? 1 : -1;
      setChosen(Math.max(-1, Math.min(suggestions.length - 1, chosen + step)));
    } else if (event.key === 'Escape') {
      if (isOpen) event.stopPropagation();
      setOpen(false);
    } else if (event.key === 'Backspace' && text === '' && chips.length > 0) go(chips.slice(0, -1));
    else if (suggestion && (event.key === 'Enter' || event.key === 'Tab')) {
      event.preventDefault();
      take(suggestion);
    }
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: older browsers know no search element.
    <form
      role="search"
      className="search-box"
      onSubmit={(event) => {
        event.preventDefault();
        setOpen(false);
        submit();
      }}
    >
      <Chips chips={chips} onRemove={(left) => go([...left, ...termsOfText(text)])} />
      <input
        ref={box}
        role="combobox"
        aria-label={t('searchMessages')}
        aria-expanded={suggestions.length > 0}
        aria-controls={`${id}list`}
        aria-autocomplete="list"
        aria-activedescendant={chosen >= 0 ? `${id}${chosen}` : undefined}
        aria-invalid={problem !== undefined}
        aria-describedby={problem && `${id}problem`}
        autoComplete="off"
        placeholder={t('wordsOrAnOperatorSuchAsChannel')}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setRefused(undefined);
          setChosen(-1);
          setOpen(true);
        }}
        onFocus={() => setOpen(text === '' && chips.length === 0)}
        onBlur={() => setOpen(false)}
        onKeyDown={onKeyDown}
      />
      <button type="submit" className="primary">
        {t('searchNow')}
      </button>
      {problem && (
        <p id={`${id}problem`} className="search-problem" role="alert">
          {problemText(problem)}
        </p>
      )}
      <Options id={id} all={suggestions} chosen={chosen} onTake={take} />
    </form>
  );
}

interface OptionsProps {
  id: string;
  all: readonly SearchSuggestion[];
  chosen: number;
  onTake: (one: SearchSuggestion) => void;
}

function Options({ id, all, chosen, onTake }: OptionsProps) {
  return (
    <div
      id={`${id}list`}
      className="suggestions"
      role="listbox"
      aria-label={t('suggestions')}
      tabIndex={-1}
      hidden={all.length === 0}
    >
      {all.map((one, index) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the field has the focus.
        <div
          key={one.key}
          id={`${id}${index}`}
          className="choice"
          role="option"
          aria-selected={index === chosen}
          onPointerDown={(event) => {
            event.preventDefault();
            onTake(one);
          }}
        >
          <span className="label">{one.label}</span>
          <span className="choice-hint">{one.hint}</span>
        </div>
      ))}
    </div>
  );
}
