import { type ReactNode, useRef } from 'react';
import { t } from '../text/text.ts';

interface ToolsProps {
  isPreview: boolean;
  onPreview: () => void;
  onFiles: (files: readonly File[]) => void;
  onEmoji: () => void;
}

const icons = {
  attach: 'M16 7.5 9.2 14.3a2 2 0 0 0 2.8 2.8l7.3-7.3a4 4 0 0 0-5.6-5.6L6 11.9a6 6 0 0 0 8.5 8.5l5.5-5.5',
  emoji: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM8.5 14.5a4 4 0 0 0 7 0M9 9.5h.01M15 9.5h.01',
  preview: 'M2 12s3.5-6.5 10-6.5S22 12 22 12s-3.5 6.5-10 6.5S2 12 2 12zm10 3a3 3 0 1 0 0-6 3 3 0 0 0 0 6z',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zm0-14v5l3.5 2',
};

/** The toolbar for the text of a message. */
export function Tools({ isPreview, onPreview, onFiles, onEmoji }: ToolsProps) {
  const files = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={files}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])]);
          event.target.value = '';
        }}
      />
      <Tool name={t('attachFiles')} onClick={() => files.current?.click()}>
        <Icon path={icons.attach} />
      </Tool>
      <Tool name={t('emoji')} onClick={onEmoji}>
        <Icon path={icons.emoji} />
      </Tool>
      <Tool name={t('preview')} isPressed={isPreview} onClick={onPreview}>
        <Icon path={icons.preview} />
      </Tool>
    </>
  );
}

interface ToolbarProps {
  tools: ToolsProps;
  isBlocked: boolean;
  onSchedule: (() => void) | undefined;
}

export function Toolbar({ tools, isBlocked, onSchedule }: ToolbarProps) {
  return (
    <div className="compose-tools">
      <Tools {...tools} />
      <span className="space" />
      {onSchedule && (
        <Tool name={t('sendLater')} isDisabled={isBlocked} onClick={onSchedule}>
          <Icon path={icons.clock} />
        </Tool>
      )}
      <button type="submit" className="primary" disabled={isBlocked}>
        {t('send')}
      </button>
    </div>
  );
}

interface ToolProps {
  name: string;
  isPressed?: boolean;
  isDisabled?: boolean;
  onClick: () => void;
  children: ReactNode;
}

function Tool({ name, isPressed, isDisabled = false, onClick, children }: ToolProps) {
  return (
    <button
      type="button"
      className="tool-button"
      aria-label={name}
      title={name}
      aria-pressed={isPressed}
      disabled={isDisabled}
      onClick={onClick}
    >
      {children}
    </button>
  );
}

function Icon({ path }: { path: string }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}
