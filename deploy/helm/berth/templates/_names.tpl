{{- define "berth.name" -}}
{{- if contains "berth" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-berth" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "berth.selector" -}}
app.kubernetes.io/name: berth
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "berth.labels" -}}
{{ include "berth.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "berth.scheme" -}}
{{ if .Values.tls.existingSecret }}https{{ else }}http{{ end }}
{{- end }}

{{- /* The server shows the runbook itself. */ -}}
{{- define "berth.runbook" -}}
{{- if .Values.monitoring.runbookUrl }}{{ .Values.monitoring.runbookUrl }}
{{- else if .Values.ingress.enabled }}{{ if .Values.ingress.tlsSecret }}https{{ else }}http{{ end }}://{{ .Values.ingress.host }}/docs/runbook
{{- else }}{{ include "berth.scheme" . }}://{{ include "berth.name" . }}.{{ .Release.Namespace }}.svc:{{ .Values.service.port }}/docs/runbook
{{- end }}
{{- end }}

{{- define "berth.subject" -}}
- kind: ServiceAccount
  name: {{ include "berth.name" . }}
  namespace: {{ .Release.Namespace }}
{{- end }}

{{- /* What the schema cannot say. */ -}}
{{- define "berth.check" -}}
{{- if and (gt (int .Values.replicas) 1) (not .Values.journal.existingSecret) }}
{{- fail "Cannot install: more than one server needs a journal in PostgreSQL. Set journal.existingSecret, or replicas to 1" }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}
{{- fail "Cannot install: the ingress has no name. Set ingress.host" }}
{{- end }}
{{- end }}
