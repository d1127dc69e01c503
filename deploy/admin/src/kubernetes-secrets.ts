/** One Secret per service, with the name that the chart expects: `<full name of the release>-<service>-credentials`. */
export function kubernetesSecrets(fullName: string, environments: Record<string, Record<string, string>>): string {
  return Object.entries(environments)
    .map(([service, environment]) =>
      [
        'apiVersion: v1',
        'kind: Secret',
        'metadata:',
        `  name: ${fullName}-${service}-credentials`,
        '  labels:',
        '    app.kubernetes.io/part-of: natter',
        'type: Opaque',
        'stringData:',
        ...Object.entries(environment).map(([key, value]) => `  ${key}: ${JSON.stringify(value)}`),
      ].join('\n'),
    )
    .join('\n---\n');
}

/** The prefix of the chart's objects, as its template `natter.fullname` makes it from the name of the release. */
export const fullNameOf = (release: string): string =>
  (release.includes('natter') ? release : `${release}-natter`).slice(0, 40).replace(/-$/, '');
