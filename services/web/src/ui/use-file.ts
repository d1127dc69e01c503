import { type RefObject, useRef, useState } from 'react';

/** The file that was chosen in a field. */
interface ChosenFile {
  file: File | undefined;
  field: RefObject<HTMLInputElement | null>;
  choose: (file: File | undefined) => void;
  /** Empties the field after a file was sent, unless another one was chosen meanwhile. */
  end: (sent: File | undefined) => void;
}

export function useFile(): ChosenFile {
  const [file, setFile] = useState<File>();
  const newest = useRef<File>(undefined);
  const field = useRef<HTMLInputElement>(null);
  const choose = (chosen: File | undefined): void => {
    newest.current = chosen;
    setFile(chosen);
  };
  const end = (sent: File | undefined): void => {
    if (newest.current !== sent) return;
    choose(undefined);
    // The reader may be choosing the next file: the browser gives it to this element.
    if (field.current) field.current.value = '';
  };
  return { file, field, choose, end };
}
