/** The first line of a card. */
export function CardHead({ title, detail }: { title?: string; detail: string | undefined }) {
  return (
    <p className="card-head">
      {title !== undefined && <bdi>{title}</bdi>}
      <span className="faint">{detail}</span>
    </p>
  );
}
