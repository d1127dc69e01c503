import { useEffect, useState } from 'react';
import { problemOf } from '../session/problem.ts';
import { t } from '../text/text.ts';
import { personName } from './names.ts';
import { Rendered } from './rendered.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { afterName, isStatusText } from './status-text.ts';

/** The message as the server renders it. */
export function Preview({ content }: { content: string }) {
  const session = useSession();
  const ownName = useSelected(({ model }) => personName(model, model.ownId));
  const [html, setHtml] = useState<string>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    const request = new AbortController();
    session.client.renderMessage({ content }, { signal: request.signal }).then(
      ({ rendered }) => setHtml(rendered),
      (error: unknown) => request.signal.aborted || setProblem(problemOf(error)),
    );
    return () => request.abort();
  }, [session, content]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard.
    <section className="preview" aria-label={t('preview')} aria-busy={html === undefined} tabIndex={0}>
      {problem !== undefined && <p role="alert">{t('previewFailed', { problem })}</p>}
      {html === '' && <p className="faint">{t('thereIsNothingToPreview')}</p>}
      {isStatusText(content) ? (
        <div className="status-line">
          <span className="sender">{ownName}</span> <Rendered html={afterName(html ?? '')} />
        </div>
      ) : (
        <Rendered html={html ?? ''} />
      )}
    </section>
  );
}
