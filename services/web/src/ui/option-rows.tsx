import { useRef } from 'react';
import { t } from '../text/text.ts';
import { ConfirmButton } from './confirm-button.tsx';
import { OrderButtons } from './order-buttons.tsx';
import type { Option } from './profile-fields.ts';

interface OptionRowsProps {
  /** The options as they were before they were edited: their texts name the fields. */
  before: readonly Option[];
  options: readonly Option[];
  isBusy: boolean;
  onChange: (options: readonly Option[]) => void;
}

/** The options of a profile field. A corrected text stays the same option, so that people who chose it keep it. */
export function OptionRows({ before, options, isBusy, onChange }: OptionRowsProps) {
  const list = useRef<HTMLUListElement>(null);
  /** The button that had the focus disappears, or is disabled. Without options, the field of new ones gets the focus. */
  const focusField = (at: number): void => {
    const ofForm = list.current?.closest('form')?.querySelector('textarea');
    (list.current?.querySelectorAll('input')[at] ?? ofForm)?.focus();
  };
  const move = (at: number, step: number): void => {
    if (at + step === 0 || at + step === options.length - 1) focusField(at);
    onChange(options.toSpliced(at, 1).toSpliced(at + step, 0, ...options.slice(at, at + 1)));
  };
  const remove = (at: number): void => {
    focusField(at === options.length - 1 ? at - 1 : at + 1);
    onChange(options.toSpliced(at, 1));
  };
  return (
    <ul className="cards" ref={list} aria-label={t('options')}>
      {options.map(({ key, text }, at) => {
        const name = before.find((one) => one.key === key)?.text ?? text;
        return (
          <li key={key}>
            <div className="row">
              <input
                className="grow"
                aria-label={t('newNameOf', { name })}
                value={text}
                required
                onChange={(event) => onChange(options.with(at, { key, text: event.target.value }))}
              />
            </div>
            <div className="card-tools">
              <OrderButtons
                name={name}
                place={{
                  isBusy,
                  isFirst: at === 0,
                  isLast: at === options.length - 1,
                  onMove: (step) => move(at, step),
                }}
              />
              <ConfirmButton
                action={t('remove')}
                full={t('removeNameAlsoFromProfiles', { name })}
                isDisabled={isBusy}
                onConfirm={() => remove(at)}
              />
            </div>
          </li>
        );
      })}
    </ul>
  );
}
