import { ApiError } from '@natter/client';
import { useState } from 'react';
import { chooseLanguage, chosenLanguage } from '../text/choice.ts';
import { type LanguageCode, languageCodes, languages } from '../text/languages.ts';
import { t } from '../text/text.ts';
import { dateLanguages, keptDateLanguage, setDateLanguage } from './dates.ts';
import { Field } from './field.tsx';
import { Outcome } from './outcome.tsx';
import { useSession } from './session-context.tsx';
import { applyTheme, currentTheme, type Theme, themeNames, themes } from './theme.ts';
import { useTask } from './use-task.ts';

/** Settings of this browser; the language is one of the account, too. */
export function Appearance() {
  const [theme, setTheme] = useState(currentTheme);
  const choose = (next: Theme): void => {
    applyTheme(next);
    setTheme(next);
  };
  return (
    <>
      <fieldset className="stack">
        <legend>{t('colors')}</legend>
        {themes.map((one) => (
          <label key={one} className="check">
            <input type="radio" name="theme" checked={one === theme} onChange={() => choose(one)} />
            <span>{themeNames[one]}</span>
          </label>
        ))}
      </fieldset>
      <LanguageField />
      <Field label={t('languageOfDates')}>
        <select
          defaultValue={keptDateLanguage() ?? ''}
          onChange={(event) => {
            setDateLanguage(event.target.value);
            location.reload();
          }}
        >
          <option value="">{t('sameAsTheTexts')}</option>
          {dateLanguages.map((one) => (
            <option key={one} value={one} lang={one}>
              {new Intl.DisplayNames(one, { type: 'language' }).of(one)}
            </option>
          ))}
        </select>
      </Field>
      <p className="faint">{t('colorsAndDatesAreOfThisBrowserAlone')}</p>
    </>
  );
}

const isRefusal = (error: unknown): void => {
  if (!(error instanceof ApiError) || error.status !== 400) throw error;
};

/** The language of this browser. The account gets it, too, so that other browsers without a choice follow. */
function LanguageField() {
  const { client } = useSession();
  const task = useTask();
  const choose = (code: LanguageCode | undefined): void =>
    void task.run(async () => {
      chooseLanguage(code);
      // A server of an earlier release may refuse a new language. The choice is stored in this browser anyway.
      if (code !== undefined) await client.updateSettings({ default_language: code }).catch(isRefusal);
      location.reload();
    });
  return (
    <>
      <Field label={t('language')}>
        <select
          defaultValue={chosenLanguage() ?? ''}
          disabled={task.isBusy}
          onChange={({ target: { value } }) => choose(languageCodes.find((code) => code === value))}
        >
          <option value="">{t('sameAsTheAccountOrTheBrowser')}</option>
          {languageCodes.map((code) => (
            <option key={code} value={code} lang={code}>
              {languages[code].name}
            </option>
          ))}
        </select>
      </Field>
      <Outcome task={task} />
    </>
  );
}
