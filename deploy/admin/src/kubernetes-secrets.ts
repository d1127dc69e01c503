/** One Secret per service, with the name that the chart expects: `<release>-<service>-credentials`. */
export function kubernetesSecrets(release: string, environments: Record<string, Record<string, string>>): string {
  return Object.entries(environments)
    .map(([service, environment]) =>
      [
        'apiVersion: v1',
        'kind: Secret',
        'metadata:',
        `  name: ${release}-${service}-credentials`,
        '  labels:',
        '    app.kubernetes.io/part-of: natter',
        'type: Opaque',
        'stringData:',
        ...Object.entries(environment).map(([name, value]) => `  ${name}: ${JSON.stringify(value)}`),
      ].join('\n'),
    )
    .join('\n---\n');
}
