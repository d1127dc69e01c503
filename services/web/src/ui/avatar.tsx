import { useState } from 'react';
import { useSelected } from './session-context.tsx';

/** The picture of a person, or the initials of their name. Screen readers have the name beside it. */
export function Avatar({ userId, name }: { userId: number; name: string }) {
  const picture = useSelected(({ model }) => model.people.get(userId)?.picture);
  const [failed, setFailed] = useState<string>();
  return (
    <span className="avatar" aria-hidden="true" data-hue={userId % 6}>
      {picture === undefined || picture === failed ? (
        initialsOf(name)
      ) : (
        <img src={picture} alt="" loading="lazy" onError={() => setFailed(picture)} />
      )}
    </span>
  );
}

const initialsOf = (name: string): string =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map((part) => [...part][0] ?? '')
    .join('')
    .toUpperCase();
