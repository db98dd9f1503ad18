#!/bin/sh
# Cleans an account of the demo: it takes a moment, and one account never gets clean.
echo "listing what is left in $BERTH_RESOURCE"
sleep 2
if [ "$BERTH_RESOURCE" = "$BROKEN" ]; then
  echo "deleting volume vol-0f3a19: VolumeInUse: it is attached to i-07c41d" >&2
  exit 1
fi
echo "deleted 3 instances and 2 volumes"
