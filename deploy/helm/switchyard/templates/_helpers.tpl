{{- define "switchyard.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "switchyard.selector" -}}
app.kubernetes.io/name: switchyard
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "switchyard.labels" -}}
{{ include "switchyard.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "switchyard.filesClaim" -}}
{{ .Values.files.existingClaim | default (printf "%s-files" (include "switchyard.name" .)) }}
{{- end }}

{{/* The variables of all processes. A secret with the key NAME is read from the file that NAME_FILE names. */}}
{{- define "switchyard.env" -}}
{{- $keys := concat (list "database-url" "secret-key") .Values.secret.optionalKeys -}}
{{- range $keys }}
- name: {{ . | upper | replace "-" "_" }}_FILE
  value: /run/secrets/switchyard/{{ . }}
{{- end }}
- name: BASE_URL
  value: {{ required "baseUrl is the address that users open, such as https://switchyard.example.com" .Values.baseUrl | quote }}
- name: STOP_DELAY_SECONDS
  value: "15"
{{- if not .Values.env.S3_BUCKET }}
- name: ATTACHMENTS_DIR
  value: /files
{{- end }}
{{- if .Values.metrics.enabled }}
- name: METRICS_ADDRESS
  value: 0.0.0.0:9464
{{- end }}
{{- range $name, $value := .Values.env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{/* Probes, ports and mounts of all containers. */}}
{{- define "switchyard.container" -}}
imagePullPolicy: {{ .Values.image.pullPolicy }}
ports:
  - { name: http, containerPort: 4000 }
{{- if .Values.metrics.enabled }}
  - { name: metrics, containerPort: 9464 }
{{- end }}
# Migrations run before the port opens.
startupProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 2
  failureThreshold: 150
livenessProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /readyz, port: http }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 1
volumeMounts:
  - { name: data, mountPath: /data }
  - { name: tmp, mountPath: /tmp }
  - { name: secrets, mountPath: /run/secrets/switchyard, readOnly: true }
{{- if not .Values.env.S3_BUCKET }}
  - { name: files, mountPath: /files }
{{- end }}
{{- end }}

{{- define "switchyard.volumes" -}}
- name: tmp
  emptyDir: {}
- name: secrets
  secret:
    secretName: {{ required "secret.name is the name of a Secret with the keys database-url and secret-key" .Values.secret.name }}
    # The group of the service reads them.
    defaultMode: 288 # 0440
{{- if not .Values.env.S3_BUCKET }}
- name: files
  persistentVolumeClaim: { claimName: {{ include "switchyard.filesClaim" . }} }
{{- end }}
{{- end }}

{{- define "switchyard.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
{{- end }}
