/** The choices of a select element, with value and name. */
export function SelectOptions({ of }: { of: readonly (readonly [value: string | number, name: string])[] }) {
  return of.map(([value, name]) => (
    <option key={value} value={value}>
      {name}
    </option>
  ));
}
