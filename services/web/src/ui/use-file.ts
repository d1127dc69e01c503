import { useState } from 'react';

/** The file that was chosen in a field. */
interface ChosenFile {
  file: File | undefined;
  /** For the field: a new key empties it. */
  key: number;
  choose: (file: File | undefined) => void;
  /** Empties the field after a file was sent, except if another one was chosen meanwhile. */
  end: (sent: File | undefined) => void;
}

export function useFile(): ChosenFile {
  const [{ file, key }, setState] = useState<Pick<ChosenFile, 'file' | 'key'>>({ file: undefined, key: 0 });
  return {
    file,
    key,
    choose: (chosen) => setState((now) => ({ ...now, file: chosen })),
    end: (sent) => setState((now) => (now.file === sent ? { file: undefined, key: now.key + 1 } : now)),
  };
}
