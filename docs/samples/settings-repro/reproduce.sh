# Fails when the settings file is not there.
if [ ! -f settings.ini ]; then
  echo "SETTINGS_MISSING: settings.ini"
  exit 3
fi
