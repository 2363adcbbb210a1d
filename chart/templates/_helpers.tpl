{{- define "account.name" -}}
{{- $name := default .Chart.Name .Release.Name -}}
{{- if contains .Chart.Name $name }}{{ $name | trunc 63 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" $name .Chart.Name | trunc 63 | trimSuffix "-" }}{{ end -}}
{{- end -}}

{{- define "account.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "account.labels" -}}
{{ include "account.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "account.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default (printf "v%s" $.Chart.AppVersion) }}{{ end -}}
{{- end -}}
{{- end -}}

{{- define "account.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "account.name" .) }}{{ else }}{{ .Values.serviceAccount.name | default "default" }}{{ end -}}
{{- end -}}

{{- /* What could not work is refused here, with what to do. */ -}}
{{- define "account.check" -}}
{{- $settings := .Values.settings -}}
{{- if not .Values.secretName }}{{ fail "secretName: name the Secret that holds DATABASE_URL, SMTP_URL, AUTH_SECRET and CODE_SECRET." }}{{ end -}}
{{- range list "APP_URL" "MAIL_FROM" "SUPPORT_EMAIL" }}{{ if not (get $settings .) }}{{ fail (printf "settings.%s is needed." .) }}{{ end }}{{ end -}}
{{- if not (hasPrefix "https://" $settings.APP_URL) }}{{ fail "settings.APP_URL must begin with https://." }}{{ end -}}
{{- range list "DATABASE_URL" "SMTP_URL" "AUTH_SECRET" "CODE_SECRET" "ARCHIVE_S3_SECRET_ACCESS_KEY" "LEDGER_S3_SECRET_ACCESS_KEY" "AUTH_OIDC_CLIENT_SECRET" "METRICS_TOKEN" }}{{ if hasKey $settings . }}{{ fail (printf "%s is a secret: put it into the Secret of secretName, not into settings." .) }}{{ end }}{{ end -}}
{{- if not (or $settings.ARCHIVE_S3_ENDPOINT $settings.LEDGER_S3_ENDPOINT $settings.LEDGER_DIR .Values.persistence.existingClaim) }}{{ fail "The erasure ledger needs a place: settings.ARCHIVE_S3_ENDPOINT or LEDGER_S3_ENDPOINT, or persistence.existingClaim with a claim that every instance can mount." }}{{ end -}}
{{- $several := or (gt (int .Values.replicaCount) 1) .Values.autoscaling.enabled -}}
{{- range list "ARCHIVE_DIR" "LEDGER_DIR" }}{{ if and $several (get $settings .) (not $.Values.persistence.existingClaim) }}{{ fail (printf "settings.%s is a directory of one pod, and there are several: use a bucket, or persistence.existingClaim with a claim that every instance can mount." .) }}{{ end }}{{ end -}}
{{- end -}}
