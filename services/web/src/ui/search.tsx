import { useNavigate, useSearch } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import type { Model } from '../state/model.ts';
import { keyOf, type Term } from '../state/place.ts';
import { labelOf, namesPeople, operators, termsOfText, textOf } from '../state/query.ts';
import { t } from '../text/text.ts';
import { isOfInputMethod } from './composing.ts';
import { Conversation } from './conversation.tsx';
import { usePageTitle } from './page-title.ts';
import { useSelected } from './session-context.tsx';

const maxSuggestions = 8;

interface Suggestion {
  key: string;
  label: string;
  hint: string;
  /** A replacement of the word that is being typed; a term makes a chip. */
  result: { text: string } | { term: Term };
}

/** The suggestions for the word that is being typed. */
function suggestionsFor(text: string, model: Model): Suggestion[] {
  const word = /\S*$/.exec(text)?.[0] ?? '';
  const [, minus = '', name = '', start = ''] = /^(-?)([a-z-]+):(.*)$/i.exec(word) ?? [];
  const operator = operators.find((one) => one.name === name.toLowerCase());
  if (operator) {
    const negated = minus === '-' ? { negated: true } : {};
    return operandsOf(operator, start.toLowerCase(), model)
      .slice(0, maxSuggestions)
      .map(({ operand, label }) => {
        const term = { operator: operator.name, operand, ...negated };
        return { key: `${word} ${operand}`, label: `${minus}${operator.name}: ${label}`, hint: '', result: { term } };
      });
  }
  const wanted = word.replace(/^-/, '').toLowerCase();
  return operators
    .filter((one) => one.name.startsWith(wanted))
    .map((one) => ({
      key: one.name,
      label: `${one.name}:`,
      hint: one.meaning,
      result: { text: `${word.startsWith('-') ? '-' : ''}${one.name}:` },
    }));
}

function operandsOf(
  { name, values }: (typeof operators)[number],
  start: string,
  model: Model,
): { operand: string | number; label: string }[] {
  if (values) return values.filter((one) => one.startsWith(start)).map((one) => ({ operand: one, label: one }));
  const holdsStart = (one: { name: string }): boolean => one.name.toLowerCase().includes(start);
  if (name === 'channel')
    return [...model.channels.values()].filter(holdsStart).map((one) => ({ operand: one.id, label: one.name }));
  if (namesPeople(name))
    return [...model.people.values()].filter(holdsStart).map((one) => ({ operand: one.id, label: one.name }));
  return start === '' ? [] : [{ operand: start, label: start }];
}

export function SearchPage() {
  const { q = '' } = useSearch({ strict: false });
  const terms = termsOfText(q);
  usePageTitle(t('search'));
  return terms.length === 0 ? (
    <main className="conversation">
      <h1>{t('search')}</h1>
      <SearchBox key={q} terms={terms} />
      <p className="empty">{t('searchForWordsOrChooseWhatThe')}</p>
    </main>
  ) : (
    <Conversation narrow={{ kind: 'search', terms }} empty={t('noMessageWasFound')}>
      <SearchBox key={q} terms={terms} />
      <News terms={terms} />
    </Conversation>
  );
}

/** Says that messages arrived that the search finds, too. */
function News({ terms }: { terms: readonly Term[] }) {
  const news = useSelected(({ views }) => views.get(keyOf({ kind: 'search', terms }))?.news ?? 0);
  const text = t('newResults', { count: news });
  return (
    <p className="news" role="status">
      {news > 0 && text}
    </p>
  );
}

/** The conditions as chips, and the words as text. */
function SearchBox({ terms }: { terms: readonly Term[] }) {
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
  const suggestions = isOpen ? suggestionsFor(text, model) : [];
  const go = (next: readonly Term[]): void => void navigate({ to: '/search', search: { q: textOf(next) } });
  const wordsOf = (rest: string): Term[] => termsOfText(rest);
  const take = ({ result }: Suggestion): void => {
    const rest = text.replace(/\S*$/, '');
    setChosen(-1);
    if ('text' in result) setText(rest + result.text);
    else go([...chips, result.term, ...wordsOf(rest)]);
    box.current?.focus();
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
        go([...chips, ...wordsOf(text)]);
      }}
    >
      {chips.map((term, index) => (
        <span key={textOf([term])} className="chip">
          {labelOf(term, model)}
          <button type="button" onClick={() => go(terms.filter((one) => one !== chips[index]))}>
            <span aria-hidden="true">×</span>
            <span className="hidden">{t('removeTerm', { term: labelOf(term, model) })}</span>
          </button>
        </span>
      ))}
      <input
        ref={box}
        role="combobox"
        aria-label={t('searchMessages')}
        aria-expanded={suggestions.length > 0}
        aria-controls={`${id}list`}
        aria-autocomplete="list"
        aria-activedescendant={chosen >= 0 ? `${id}${chosen}` : undefined}
        autoComplete="off"
        placeholder={t('wordsOrAnOperatorSuchAsChannel')}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
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
      <div
        id={`${id}list`}
        className="suggestions"
        role="listbox"
        aria-label={t('suggestions')}
        tabIndex={-1}
        hidden={suggestions.length === 0}
      >
        {suggestions.map((one, index) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the field has the focus.
          <div
            key={one.key}
            id={`${id}${index}`}
            className="choice"
            role="option"
            aria-selected={index === chosen}
            onPointerDown={(event) => {
              event.preventDefault();
              take(one);
            }}
          >
            <span className="label">{one.label}</span>
            <span className="choice-hint">{one.hint}</span>
          </div>
        ))}
      </div>
    </form>
  );
}
